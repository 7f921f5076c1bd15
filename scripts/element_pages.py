#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes the property tables of docs/elements/ from the elements themselves.

    meson devenv -C build -w . scripts/element_pages.py

Each element of the plugin has a page. The script replaces the text between the two marks on it and
nothing else; an element without a page gets one. index.md lists the elements. The test docs
compares the pages with the plugin. Needs python3-gi and gir1.2-gstreamer-1.0.
"""
import math
import pathlib
import sys
import textwrap

import gi

gi.require_version("Gst", "1.0")
from gi.repository import GLib, GObject, Gst  # noqa: E402

PAGES = pathlib.Path(__file__).resolve().parent.parent / "docs/elements"
COMMAND = "meson devenv -C build -w . scripts/element_pages.py"
BEGIN = "<!-- Written by scripts/element_pages.py from here to the end mark: do not edit. -->"
END = "<!-- End of what scripts/element_pages.py writes. -->"

TYPES = {"gint": "integer", "guint": "integer from 0", "gint64": "integer", "gdouble": "number",
         "gboolean": "true or false", "gchararray": "text", "GstStructure": "named values",
         "GstValueArray": "array of integers", "GStrv": "list of texts"}
LIMITS = {"gint": (GLib.MININT, GLib.MAXINT), "guint": (0, GLib.MAXUINT),
          "gdouble": (-math.inf, math.inf)}

LEGEND = """Set while: *playing* properties may change at any time and can be controlled by a \
`GstController`;
*stopped* ones only in the states NULL and READY."""


def elements():
    """The plugin's elements: name to factory, in alphabetical order."""
    Gst.init(None)
    features = Gst.Registry.get().get_feature_list_by_plugin("cudascan")
    if not features:
        sys.exit(f"GStreamer does not find the plugin cudascan: run {COMMAND}")
    return {feature.get_name(): feature
            for feature in sorted(features, key=Gst.PluginFeature.get_name)
            if isinstance(feature, Gst.ElementFactory)}


def cell(text):
    """Text in a form that a cell of a table can contain."""
    for character in ("\\", "|", "*", "_"):
        text = text.replace(character, "\\" + character)
    return text.replace("<", "&lt;")


def table(heads, rows):
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def choices(spec):
    """The values of an enum or a set of flags: a list of (number, name, description)."""
    if hasattr(spec, "enum_class"):
        values = spec.enum_class.__enum_values__
        return [(number, value.value_nick, value.value_name) for number, value in values.items()]
    if hasattr(spec, "flags_class"):
        values = spec.flags_class.__flags_values__
        return [(number, value.first_value_nick or "none", value.first_value_name)
                for number, value in values.items()]
    return []


def type_of(spec):
    if choices(spec):
        several = " or several" if hasattr(spec, "flags_class") else ""
        return f"[one{several} of these](#values-of-{spec.name})"
    text = TYPES.get(spec.value_type.name, spec.value_type.name)
    lowest, highest = LIMITS.get(spec.value_type.name, (None, None))
    if lowest is not None and spec.minimum != lowest:
        text += f" from {spec.minimum:.10g}"
    if highest is not None and spec.maximum != highest:
        text += f" to {spec.maximum:.10g}"
    return text


def default_of(spec):
    value = getattr(spec, "default_value", None)
    if not spec.flags & GObject.ParamFlags.WRITABLE:
        return ""
    if choices(spec):
        return next(f"`{name}`" for number, name, _ in choices(spec) if number == int(value))
    if value is None or value == "":
        return "empty"
    if isinstance(value, bool):
        return str(value).lower()
    return f"`{value}`" if isinstance(value, str) else f"{value:g}"


def change_of(spec):
    if not spec.flags & GObject.ParamFlags.WRITABLE:
        return "read only"
    if not int(spec.flags) & Gst.PARAM_MUTABLE_PLAYING:
        return "stopped"
    return "playing" if int(spec.flags) & Gst.PARAM_CONTROLLABLE else "playing, not controllable"


def property_table(specs):
    return table(("property", "type", "default", "set while", "description"),
                 [(f"`{spec.name}`", type_of(spec), default_of(spec), change_of(spec),
                   cell(spec.blurb))
                  for spec in specs])


# Formats of newer versions of GStreamer, so that a page is the same whatever version makes it.
NEWER_FORMATS = {"1.24": ["RBGA", "GBR_16LE"], "1.26": ["GRAY10_LE16"]}


def formats_of(factory):
    caps = factory.get_static_pad_templates()[0].get_caps()
    formats = caps.get_structure(0).copy().to_string()
    formats = formats[formats.index("{") + 1:formats.index("}")]
    names = [name.replace("(string)", "").strip() for name in formats.split(",")]
    newer = [name for added in NEWER_FORMATS.values() for name in added]
    return ", ".join(name for name in names if name not in newer)


def block(factory):
    """The element's own description of itself, in Markdown."""
    element = factory.create(None)
    specs = sorted(element.list_properties(), key=lambda spec: spec.name)
    own = [spec for spec in specs if spec.owner_type == element.__gtype__]
    # The classes from GstBaseTransform upwards belong to GStreamer.
    base = GObject.type_from_name("GstBaseTransform")
    common = [spec for spec in specs if spec not in own and not base.is_a(spec.owner_type)]
    parts = [LEGEND, property_table(own), "### Common properties",
             "Every element of the plugin has them.", property_table(common)]
    for spec in own + common:
        if choices(spec):
            parts.append(f"### Values of {spec.name}")
            parts.append(table(("value", "meaning"),
                               [(f"`{name}`", cell(text)) for _, name, text in choices(spec)]))
    newer = ", ".join(f"with GStreamer {version} or newer {' and '.join(names)}"
                      for version, names in NEWER_FORMATS.items())
    formats = (f"On both pads, in system memory and in CUDAMemory: {formats_of(factory)}; "
               f"{newer}.")
    parts += ["### Formats", textwrap.fill(formats, 120)]
    return "\n\n".join(parts)


def index(factories):
    return table(("element", "what it does"),
                 [(f"[`{name}`]({name}.md)", cell(factory.get_metadata("description")))
                  for name, factory in factories.items()])


def page_with(page, text, new):
    """The page with `text` between its marks. If there is no page yet, it begins with `new`."""
    old = page.read_text(encoding="utf-8") if page.exists() else f"{new}\n\n{BEGIN}\n{END}\n"
    head, begin, rest = old.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{page}: must have the two lines {BEGIN} and {END}")
    return f"{head}{BEGIN}\n\n{text}\n\n{END}{tail}"


def pages():
    """All pages as they must be: path to text."""
    factories = elements()
    made = {PAGES / "index.md": page_with(PAGES / "index.md", index(factories), "# Elements")}
    for name, factory in factories.items():
        new = f"# {name}\n\n{factory.get_metadata('description')}.\n\n## Properties"
        made[PAGES / f"{name}.md"] = page_with(PAGES / f"{name}.md", block(factory), new)
    return made


if __name__ == "__main__":
    for path, content in pages().items():
        path.write_text(content, encoding="utf-8")
