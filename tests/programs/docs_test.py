# SPDX-License-Identifier: LGPL-2.1-or-later
"""The documentation agrees with the plugin and with itself: property tables, launch lines and
links."""
import os
import pathlib
import re
import shlex
import sys
import unittest

import program

ROOT = pathlib.Path(os.environ["SOURCE_ROOT"])
sys.path.insert(0, str(ROOT / "scripts"))
try:
    import element_pages
    from gi.repository import GLib, Gst
except (ImportError, ValueError):
    element_pages = None


def documents():
    """The pages in the root folder and in docs/."""
    return [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]


def without_code(text):
    """The text without code, where brackets are not links and # does not begin a heading."""
    text = re.sub(r"^( *)```.*?^\1```", "", text, flags=re.S | re.M)
    text = re.sub(r"^(?: {4}|\t)(?! *[-*] ).*$", "", text, flags=re.M)
    return text


def anchors(page):
    """The anchors that forges and MkDocs make for a page's headings."""
    found = set()
    for heading in re.findall(r"^#+ (.*)$", without_code(page.read_text(encoding="utf-8")), re.M):
        words = re.sub(r"[^\w\- ]", "", re.sub(r"[`*]", "", heading)).strip().lower()
        found.add(words.replace(" ", "-"))
    return found


def launch_lines(page):
    """The gst-launch-1.0 commands of a page; lines that end with a backslash are joined."""
    text = page.read_text(encoding="utf-8").replace("\\\n", " ")
    return re.findall(r"^ {4}(gst-launch-1\.0 .*)$", text, re.M)


@unittest.skipIf(element_pages is None, "python3-gi or gir1.2-gstreamer-1.0 is not installed")
class Elements(unittest.TestCase):
    def test_property_tables_are_what_the_elements_say(self):
        for path, text in element_pages.pages().items():
            with self.subTest(path.name):
                self.assertTrue(path.exists(), f"{path} is missing, run: {element_pages.COMMAND}")
                self.assertTrue(path.read_text(encoding="utf-8") == text,
                                f"{path} is not what the element says, run: "
                                f"{element_pages.COMMAND}")

    def test_each_page_has_its_element(self):
        elements = {path.name for path in element_pages.pages()}
        for path in element_pages.PAGES.glob("*.md"):
            self.assertIn(path.name, elements, "no element has this name: remove the page")

    def test_launch_lines_name_elements_properties_and_values_that_exist(self):
        ours = element_pages.elements()
        tried = 0
        for page in documents():
            for line in launch_lines(page):
                words = shlex.split(line)[1:]
                elements = {word for word in words if re.fullmatch(r"[a-z][a-z0-9]*", word)}
                # Elements of other packages, such as an encoder, may be missing here.
                if not all(Gst.ElementFactory.find(word)
                           for word in elements) or not elements & ours.keys():
                    continue
                with self.subTest(f"{page.name}: {line}"):
                    # This test does not set the folders in which presets are looked for.
                    words = [word for word in words if not word.startswith(("-", "@preset="))]
                    tried += 1
                    try:
                        Gst.parse_launchv(words)
                    except GLib.Error as error:
                        self.fail(error.message)
        self.assertGreater(tried, 30)


class Messages(unittest.TestCase):
    # Of GStreamer, CUDA, compilers and the system.
    OTHERS = ("no element", "could not set property", "could not link", "Error while reading",
              "no kernel image", "error: ...", "was not declared", "is not a member",
              "No such file")
    # The names and values of the examples, which vary.
    VALUES = re.compile(r"^[a-z-]+ = |^params: |\.\.\.|<.*?>|\"\(p\"|'\w+'|\S+\.cpp(?::\d)*|"
                        r"-?\b\d\S*|\bsharpen\b(?:, \w+)?|\bsharp:|\bamont\b|\br, amount|"
                        r"\bfilter$|name \(gchararray\)|\bcuda: ")

    def test_messages_in_tables_are_those_of_the_sources(self):
        text = "\n".join(path.read_text(encoding="utf-8") for folder in ("gst", "kernels", "gswo")
                         for path in (ROOT / folder).rglob("*") if path.suffix in (".cpp", ".h"))
        # As the compiler joins literals.
        text = re.sub(r'(?<!\\)"\s*"', "", text).replace('\\"', '"')
        tried = 0
        for page in documents():
            for table in re.findall(r"^\| message \| remedy \|\n((?:\|.*\n)*)",
                                    page.read_text(encoding="utf-8"), re.M):
                cells = [row.split("|")[1] for row in table.splitlines()]
                for message in re.findall("`(.*?)`", "\n".join(cells)):
                    if any(words in message for words in self.OTHERS):
                        continue
                    tried += 1
                    for fixed in self.VALUES.split(message):
                        with self.subTest(f"{page.name}: {message}"):
                            self.assertTrue(fixed.strip(" :") in text, fixed)
        self.assertGreater(tried, 15)


class Links(unittest.TestCase):
    def test_links_lead_somewhere(self):
        for page in documents():
            for target in re.findall(r"\]\(([^)\s]+)\)",
                                     without_code(page.read_text(encoding="utf-8"))):
                if re.match(r"[a-z]+:", target):
                    continue
                path, _, anchor = target.partition("#")
                file = (page.parent / path).resolve() if path else page
                with self.subTest(f"{page.relative_to(ROOT)}: {target}"):
                    self.assertTrue(file.exists(), "there is no such file")
                    if anchor:
                        self.assertIn(anchor, anchors(file))


if __name__ == "__main__":
    program.main()
