# SPDX-License-Identifier: LGPL-2.1-or-later
"""Times functions of OpenCV on one core for cudascan-bench, which runs this where its module of
OpenCV in C++ was not built. It works as opencv_peer.cpp does.

Prints the version of OpenCV. Then each line of standard input is a function, width, height, depth,
stride, budget in microseconds, number of measurements (0 = as many as fit) and settings, with the
bytes of the image after it; the answer is the time in microseconds, or nan if OpenCV refuses.
"""
import statistics
import sys
import time

import cv2
import numpy

cv2.setNumThreads(1)
TYPES = {8: numpy.uint8, 16: numpy.uint16, 32: numpy.float32}


def white(image):
    return 255 if image.dtype == numpy.uint8 else 65535


def histogram(source, _, _settings):
    levels = white(source) + 1
    return cv2.calcHist([source], [0], None, [levels], [0, levels])


def openings(source, result, settings):
    values, one = iter(settings), numpy.empty_like(source)
    for i in range(int(next(values))):
        width, height, x, y = (int(next(values)) for _ in range(4))
        mask = numpy.array([next(values) != 0 for _ in range(width * height)], numpy.uint8)
        cv2.morphologyEx(source, cv2.MORPH_OPEN, mask.reshape(height, width),
                         result if i == 0 else one, (x, y))
        if i > 0:
            cv2.max(result, one, result)


def rotate(source, result, settings):
    height, width = source.shape
    centre = ((width - 1) / 2, (height - 1) / 2)
    cv2.warpAffine(source, cv2.getRotationMatrix2D(centre, settings[0], 1), (width, height),
                   result, int(settings[1]), cv2.BORDER_REPLICATE)


def hit_or_miss(source, result, settings):
    mask = numpy.array(settings[2:], numpy.int32).reshape(int(settings[1]), int(settings[0]))
    cv2.morphologyEx(source, cv2.MORPH_HITMISS, mask, result)


def morphology(source, result, settings):
    side = int(settings[1])
    mask = cv2.getStructuringElement(cv2.MORPH_RECT, (side, side))
    cv2.morphologyEx(source, int(settings[0]), mask, result)


# The settings are those of the functions in opencv_peer.cpp. The result has its memory already, as
# there.
FUNCTIONS = {
    "histogram": histogram,
    "equalize": lambda image, result, s: cv2.equalizeHist(image, result),
    "clahe": lambda image, result, s: cv2.createCLAHE(s[0], (int(s[1]), int(s[2]))).apply(image,
                                                                                          result),
    "threshold": lambda image, result, s: cv2.threshold(image, 0, white(image),
                                                        cv2.THRESH_BINARY | int(s[0]), result),
    "adaptive": lambda image, result, s: cv2.adaptiveThreshold(
        image, 255, int(s[0]), cv2.THRESH_BINARY, int(s[1]), s[2], result),
    "niblack": lambda image, result, s: cv2.ximgproc.niBlackThreshold(
        image, 255, cv2.THRESH_BINARY, int(s[0]), s[1], result, int(s[2]), 128),
    "openings": openings,
    "morphology": morphology,
    "hit-or-miss": hit_or_miss,
    "median": lambda image, result, s: cv2.medianBlur(image, int(s[0]), result),
    "mean": lambda image, result, s: cv2.blur(image, (int(s[0]), int(s[0])), result),
    "rotate": rotate,
    "thinning": lambda image, result, s: cv2.ximgproc.thinning(image, result, int(s[0])),
}


def time_us(work, budget_us, repeat):
    """Median time of `work`, measured for about `budget_us`; longer work is run once."""
    def once():
        begin = time.perf_counter()
        work()
        return 1e6 * (time.perf_counter() - begin)

    first = once()
    if first > budget_us and repeat == 0:
        return first
    n = repeat if repeat > 0 else int(min(max(budget_us / max(first, 1), 3), 50))
    return statistics.median(once() for _ in range(n))


def answer(words):
    name, (width, height, depth, stride) = words[0], map(int, words[1:5])
    settings = [float(word) for word in words[7:]]
    rows = numpy.frombuffer(sys.stdin.buffer.read(height * stride), TYPES[depth])
    image = numpy.ascontiguousarray(rows.reshape(height, -1)[:, :width])
    result = numpy.empty_like(image)
    try:
        return time_us(lambda: FUNCTIONS[name](image, result, settings), float(words[5]),
                       int(words[6]))
    except (cv2.error, KeyError, AttributeError):  # there is no ximgproc without opencv-contrib
        return float("nan")


def main():
    print(cv2.__version__, flush=True)
    for line in iter(sys.stdin.buffer.readline, b""):
        print(answer(line.decode().split()), flush=True)


if __name__ == "__main__":
    main()
