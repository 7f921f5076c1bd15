# SPDX-License-Identifier: LGPL-2.1-or-later
"""Frames of a camera through elements of the plugin, and the same frames through them again from
memory, on the CPU. Both have to give the same."""
import sys

try:
    import gi
    import numpy as np

    gi.require_version("Gst", "1.0")
    gi.require_version("GstVideo", "1.0")
    from gi.repository import Gst, GstVideo
except (ImportError, ValueError) as missing:
    print(f"1..0 # SKIP {missing}")
    sys.exit()

Gst.init(None)
PATIENCE = 30 * Gst.SECOND  # longer than any frame takes


def elements():
    """Launch lines: every element with its defaults, and one whose results depend on the order."""
    features = Gst.Registry.get().get_feature_list_by_plugin("cudascan")
    names = sorted(feature.get_name() for feature in features
                   if isinstance(feature, Gst.ElementFactory))
    return [*names, "cudaautothreshold smoothing=0.5"]


class Frame:
    """A copy of a frame: its memory goes back to the camera."""

    def __init__(self, sample):
        self.caps = sample.get_caps()
        self.buffer = sample.get_buffer().copy_deep()
        self.pts = self.buffer.pts
        self.info = GstVideo.VideoInfo.new_from_caps(self.caps)
        self.format = self.info.finfo.name
        self.components = self.copy_components()

    def copy_components(self):
        """The samples of each component, without padding."""
        info, format = self.info, self.info.finfo
        meta = GstVideo.buffer_get_video_meta(self.buffer)
        where = meta if meta else info
        data = self.buffer.extract_dup(0, self.buffer.get_size())
        components = []
        for c in range(format.n_components):
            plane = format.plane[c]
            shape = -(-info.height >> format.h_sub[c]), -(-info.width >> format.w_sub[c])
            kind = np.uint16 if format.depth[c] + format.shift[c] > 8 else np.uint8
            components.append(np.ndarray(shape, kind, data, where.offset[plane] + format.poffset[c],
                                         (where.stride[plane], format.pixel_stride[c])))
        return components


class Stream:
    """A source whose frames go to each of the elements, and as they are to `frames`."""

    def __init__(self, source, lines):
        self.lines = lines
        branches = "".join(f" tee. ! queue ! {line} ! appsink name=sink{i} sync=false"
                           for i, line in enumerate(lines))
        self.pipeline = Gst.parse_launch(
            f"{source} ! tee name=tee tee. ! queue ! appsink name=raw sync=false{branches}")
        self.sinks = [self.pipeline.get_by_name(f"sink{i}") for i in range(len(lines))]
        self.raw = self.pipeline.get_by_name("raw")
        self.frames = []
        self.messages = []

    def __enter__(self):
        self.play()
        return self

    def __exit__(self, *_):
        self.stop()
        # aravissrc has the camera for itself until it is freed.
        self.pipeline = self.raw = None
        self.sinks.clear()

    def play(self):
        self.frames.clear()
        self.pipeline.set_state(Gst.State.PLAYING)

    def stop(self):
        self.pipeline.set_state(Gst.State.NULL)

    def wait(self, count):
        """Waits until this many more frames have come."""
        for _ in range(count):
            frame = self.pull(self.raw)
            assert frame, self.errors()
            self.frames.append(frame)

    def pull(self, sink):
        """The next frame, or None at the end of the stream."""
        sample = sink.emit("try-pull-sample", PATIENCE)
        if not sample and not sink.get_property("eos"):
            raise AssertionError("neither a frame nor the end has come")
        return Frame(sample) if sample else None

    def errors(self):
        """The source and the text of each error since the last call."""
        bus, errors = self.pipeline.get_bus(), []
        while message := bus.pop_filtered(Gst.MessageType.ERROR):
            errors.append((message.src.get_name(), message.parse_error()[0].message))
        return errors

    def rest(self, sink):
        """The frames until the end of the stream."""
        return list(iter(lambda: self.pull(sink), None))

    def reports(self, name):
        """What elements of this name have reported until now, by timestamp."""
        bus = self.pipeline.get_bus()
        while message := bus.pop_filtered(Gst.MessageType.ELEMENT):
            self.messages.append(message.get_structure())
        return {report.get_value("timestamp"): report for report in self.messages
                if report.get_name() == name}

    def check(self, test):
        """Waits for the end of the stream. Every element has given for every frame what it gives
        for it from memory."""
        self.frames += self.rest(self.raw)
        test.assertTrue(self.frames, None if self.frames else self.errors())
        for line, sink in zip(self.lines, self.sinks):
            results, wanted = self.rest(sink), from_memory(self.frames, line)
            test.assertEqual([f.pts for f in results], [f.pts for f in self.frames], line)
            for i, (result, want) in enumerate(zip(results, wanted, strict=True)):
                test.assertTrue(result.caps.is_equal(want.caps), result.caps.to_string())
                for a, b in zip(result.components, want.components, strict=True):
                    test.assertTrue(np.array_equal(a, b), f"{line}, frame {i}")


def from_memory(frames, line):
    pipeline = Gst.parse_launch(f"appsrc name=source format=time ! {line} backend=cpu ! "
                                "appsink name=sink sync=false")
    source, sink = pipeline.get_by_name("source"), pipeline.get_by_name("sink")
    pipeline.set_state(Gst.State.PLAYING)
    for frame in frames:
        source.emit("push-sample", Gst.Sample.new(frame.buffer, frame.caps, None, None))
    source.emit("end-of-stream")
    results = [Frame(sample) for sample in iter(lambda: sink.emit("try-pull-sample", PATIENCE),
                                                None)]
    pipeline.set_state(Gst.State.NULL)
    return results
