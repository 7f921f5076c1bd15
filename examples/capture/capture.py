#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Passes a camera's frames through elements of gst-cudascan into numpy: an example to start from.

    examples/capture/capture.py --list
    examples/capture/capture.py --camera "aravis:Basler-21234567"
    examples/capture/capture.py --test --frames 30 --output pixels.raw

docs/capture.md explains it; capture.cpp is the same in C++. Exit status: 0 success, 1 error, 2
wrong arguments, 3 no camera.

Needs python3-gi, python3-numpy, gir1.2-gstreamer-1.0, gir1.2-gst-plugins-base-1.0 and the
environment of `meson devenv -C build -w .`; with gir1.2-aravis-0.8 it lists cameras of GigE Vision
and USB3 Vision.
"""
import argparse
import signal
import sys

import gi
import numpy as np

gi.require_version("Gst", "1.0")
gi.require_version("GstVideo", "1.0")
from gi.repository import GLib, Gst, GstVideo  # noqa: E402

try:
    gi.require_version("Aravis", "0.8")
    from gi.repository import Aravis
except (ValueError, ImportError):
    Aravis = None

FAILED, NO_CAMERA = 1, 3
RETRY_SECONDS = 1  # until a lost camera is tried again
PATIENCE = 5  # seconds without a frame until a message says so
ARAVIS = "aravis:"


class Failure(Exception):
    """A message and the exit status."""


def make(factory, **settings):
    """An element. Settings are written as for gst-launch-1.0, with _ for -."""
    element = Gst.ElementFactory.make(factory)
    if element is None:
        raise Failure(f"{factory}: there is no such element; is GST_PLUGIN_PATH set?", FAILED)
    for name, value in settings.items():
        Gst.util_set_object_arg(element, name.replace("_", "-"), str(value))
    return element


def to_array(sample):
    """The gray pixels of a frame, copied: the memory goes back to the camera."""
    info = GstVideo.VideoInfo.new_from_caps(sample.get_caps())
    buffer = sample.get_buffer()
    meta = GstVideo.buffer_get_video_meta(buffer)
    offset, stride = (meta.offset[0], meta.stride[0]) if meta else (info.offset[0], info.stride[0])
    ok, mapped = buffer.map(Gst.MapFlags.READ)
    if not ok:
        raise Failure("a frame cannot be read", FAILED)
    try:
        return np.ndarray((info.height, info.width), np.uint8, mapped.data, offset,
                          (stride, 1)).copy()
    finally:
        buffer.unmap(mapped)


class Capture:
    def __init__(self, options):
        self.options = options
        self.name = options.camera
        self.loop = GLib.MainLoop()
        self.pipeline = self.source = None
        self.frames = self.opened = self.retry = self.frames_before = 0
        self.stalled = False
        self.ending = False
        self.failure = None
        self.file = open(options.output, "wb") if options.output else None
        self.monitor = Gst.DeviceMonitor()
        self.monitor.add_filter("Video/Source", None)
        self.watch(self.monitor.get_bus())
        self.monitor.start()

    def cameras(self):
        """Pairs of name and device. Aravis has no device provider, so its cameras have no
        device."""
        for device in self.monitor.get_devices() or []:
            yield device.get_display_name(), device
        if Aravis:
            Aravis.update_device_list()
            for i in range(Aravis.get_n_devices()):
                yield ARAVIS + Aravis.get_device_id(i), None

    def make_source(self):
        if self.options.test:
            return make("videotestsrc", is_live="true")
        if not self.name.startswith(ARAVIS):  # a camera of Aravis may be an unlisted address
            for number, (name, device) in enumerate(self.cameras()):
                if self.name in (name, str(number)):
                    self.name = name  # when it comes back, it may have another number
                    if device:
                        return device.create_element()
                    break
        if self.name.startswith(ARAVIS):
            return make("aravissrc", camera_name=self.name.removeprefix(ARAVIS))
        return None

    def open(self):
        self.source = self.make_source()
        if self.source is None:
            self.lost(f"no camera {self.name}; see --list, or try --test")
            return
        sink = make("appsink", sync="false", max_buffers=4, emit_signals="true",
                    caps="video/x-raw,format=GRAY8")
        sink.connect("new-sample", self.on_frame)
        chain = [self.source, make("capsfilter", caps="video/x-raw"), make("videoconvert"),
                 make("cudalinearopen", length=9, directions=12, report="message"),
                 make("cudaautothreshold", smoothing=0.5, report="message"), sink]
        self.pipeline = Gst.Pipeline()
        for element in chain:
            self.pipeline.add(element)
        for a, b in zip(chain, chain[1:]):
            if not a.link(b):
                raise Failure(f"{b.name} rejects frames of {a.name}", FAILED)
        self.watch(self.pipeline.get_bus())
        self.pipeline.set_state(Gst.State.PLAYING)  # errors come as messages
        self.opened += 1

    def close(self):
        if self.pipeline:
            self.pipeline.get_bus().remove_signal_watch()
            self.pipeline.set_state(Gst.State.NULL)
            self.pipeline = self.source = None

    def watch(self, bus):
        bus.add_signal_watch()
        bus.connect("message", self.on_message)

    def run(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            GLib.unix_signal_add(GLib.PRIORITY_DEFAULT, number, self.on_signal)
        GLib.timeout_add_seconds(PATIENCE, self.look_for_frames)
        self.open()
        if not self.failure:
            self.loop.run()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)  # to leave a source that does not stop
        self.close()  # no more frames from here on
        self.monitor.get_bus().remove_signal_watch()
        self.monitor.stop()
        if self.file:
            self.file.close()
        print(f"{self.frames} frames, camera opened {self.opened} times", flush=True)
        if self.failure:
            raise self.failure

    def end(self, failure):
        self.failure = self.failure or failure  # later ones only follow from the first
        self.loop.quit()

    def lost(self, why):
        """The camera is lost or not back yet: tries again. Does not wait for one that never gave a
        frame."""
        if self.frames == 0:
            self.end(Failure(why, NO_CAMERA))
        elif self.ending:
            self.loop.quit()
        elif not self.retry:
            print(f"capture: {why}; trying again", file=sys.stderr, flush=True)
            self.retry = GLib.timeout_add_seconds(RETRY_SECONDS, self.reopen)

    def reopen(self):
        self.retry = 0
        self.close()
        try:
            self.open()
        except Failure as failure:
            self.end(failure)
        return GLib.SOURCE_REMOVE

    def look_for_frames(self):
        was_stalled, self.stalled = self.stalled, self.frames == self.frames_before
        if self.stalled and not was_stalled and not self.retry:
            print(f"capture: no whole frame for {PATIENCE} s; packets may be lost, or the camera "
                  "waits for a trigger", file=sys.stderr, flush=True)
        self.frames_before = self.frames
        return GLib.SOURCE_CONTINUE

    def on_signal(self):
        """Waits for the frames in flight, for 2 s at most; stops at once when called again. Leaves
        a source that does not stop."""
        signal.alarm(12)
        if (self.ending or self.retry or not self.frames
                or not self.pipeline.send_event(Gst.Event.new_eos())):
            self.loop.quit()
        self.ending = True
        GLib.timeout_add_seconds(2, self.on_signal)
        return GLib.SOURCE_CONTINUE

    def on_message(self, _bus, message):
        if message.type == Gst.MessageType.ELEMENT:  # what an element measured in a frame
            report = message.get_structure()
            for field in ("threshold", "dominant-angle"):
                if report.has_field(field):
                    print(field, report.get_value(field), flush=True)
        elif message.type == Gst.MessageType.EOS and not self.retry:  # also after an error
            self.loop.quit()
        elif message.type == Gst.MessageType.DEVICE_REMOVED:
            removed = message.parse_device_removed().get_display_name()
            if not self.options.test and removed == self.name:
                self.lost(f"{self.name}: unplugged")
        elif message.type == Gst.MessageType.ERROR:
            text = f"{message.src.get_name()}: {message.parse_error()[0].message}"
            if message.src == self.source or message.src.has_as_ancestor(self.source):
                self.lost(text)
            else:
                self.end(Failure(text, FAILED))

    def on_frame(self, sink):
        """Runs in the camera's thread, which drops frames while this function is busy."""
        pixels = to_array(sink.emit("pull-sample"))
        if self.file:
            try:
                self.file.write(pixels.tobytes())
            except OSError as error:
                self.end(Failure(f"{self.options.output}: {error.strerror}", FAILED))
                return Gst.FlowReturn.ERROR
        self.frames += 1
        return Gst.FlowReturn.EOS if self.frames == self.options.frames else Gst.FlowReturn.OK


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-l", "--list", action="store_true", help="list the cameras and exit")
    parser.add_argument("-c", "--camera", default="0", help="its number or name (0)")
    parser.add_argument("-t", "--test", action="store_true", help="use a test picture instead")
    parser.add_argument("-o", "--output", help="write the frames' pixels to this file")
    parser.add_argument("-n", "--frames", type=int, default=0, metavar="N",
                        help="exit after N frames")
    options = parser.parse_args()
    Gst.init(None)
    try:
        capture = Capture(options)
        if options.list:
            for number, (name, _) in enumerate(capture.cameras()):
                print(f"{number}: {name}")
        else:
            capture.run()
        return 0
    except OSError as error:
        print(f"capture: {error.filename}: {error.strerror}", file=sys.stderr)
        return FAILED
    except Failure as failure:
        text, status = failure.args
        print(f"capture: {text}", file=sys.stderr)
        return status


if __name__ == "__main__":
    status = main()
    Gst.deinit()
    sys.exit(status)
