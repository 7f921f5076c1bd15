# SPDX-License-Identifier: LGPL-2.1-or-later
"""The rules of PDF/A-2b (ISO 19005-2:2011) that can apply to PDFs of pages, one by one as veraPDF
lists them for its profile PDF/A-2B. The numbers are those of the clauses. The bytes of the file
are read here, its objects by qpdf."""
import base64
import json
import re
import shutil
import xml.etree.ElementTree as tree

import program

NAMES = {"rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
         "dc": "http://purl.org/dc/elements/1.1/", "pdf": "http://ns.adobe.com/pdf/1.3/",
         "pdfaid": "http://www.aiim.org/pdfa/ns/id/", "xmp": "http://ns.adobe.com/xap/1.0/"}
# 6.1.7.1, 6.2.5, 6.2.8.1, 6.2.9, 6.3, 6.4, 6.5, 6.8, 6.9
FORBIDDEN = {"/F", "/FFilter", "/FDecodeParms", "/TR", "/TR2", "/HTP", "/Alternates", "/OPI",
             "/Subtype2", "/PS", "/Ref", "/Annots", "/AcroForm", "/A", "/AA", "/OpenAction",
             "/Names", "/NeedsRendering", "/EF", "/OCProperties", "/Encrypt", "/Requirements",
             "/DestOutputProfileRef", "/CIDSet", "/Group", "/SMask", "/ExtGState"}
FILTERS = {None, "/FlateDecode", "/CCITTFaxDecode", "/JBIG2Decode", "/DCTDecode"}


def has_qpdf():
    return shutil.which("qpdf") is not None


class Document:
    """The objects of a PDF; strings begin with u: or b:, names with /."""

    def __init__(self, path):
        self.bytes = path.read_bytes()
        result = program.run(["qpdf", "--json=2", "--json-stream-data=inline",
                              "--decode-level=generalized", path])
        assert result.returncode == 0, result.stderr
        self.objects = json.loads(result.stdout)["qpdf"][1]
        self.trailer = self.objects["trailer"]["value"]
        self.root = self.value(self.trailer["/Root"])

    def find(self, reference):
        return self.objects["obj:" + reference]

    def value(self, reference):
        """What a reference, or a value, stands for; of a stream, its dictionary."""
        if not (isinstance(reference, str) and re.fullmatch(r"\d+ \d+ R", reference)):
            return reference
        found = self.find(reference)
        return found["stream"]["dict"] if "stream" in found else found["value"]

    def data(self, reference):
        return base64.b64decode(self.find(reference)["stream"]["data"])

    def pages(self, node=None):
        node = self.value(node or self.root["/Pages"])
        if node["/Type"] == "/Page":
            return [node]
        return [page for kid in node["/Kids"] for page in self.pages(kid)]

    def info(self):
        values = self.value(self.trailer["/Info"])
        return {key[1:]: value.removeprefix("u:") for key, value in values.items()}

    def xmp(self):
        packet = self.data(self.root["/Metadata"])
        return tree.fromstring(packet.decode()).find(".//rdf:Description", NAMES)

    def xmp_text(self, name):
        """The text of a property, also in a list of one."""
        found = self.xmp().find(name, NAMES)
        return None if found is None else "".join(found.itertext())

    def labels(self):
        numbers = self.value(self.root["/PageLabels"])["/Nums"]
        assert numbers[::2] == list(range(len(numbers) // 2))
        return [label["/P"].removeprefix("u:") for label in numbers[1::2]]


def every(value):
    """The dictionaries in a value."""
    if isinstance(value, dict):
        yield value
        for inner in value.values():
            yield from every(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from every(inner)


def check_bytes(test, data):
    header = re.match(rb"%PDF-1\.[0-7]\n%[\x80-\xff]{4,}\n(%[^\n]*\n)*", data)
    test.assertTrue(header, "6.1.2")
    test.assertTrue(data.endswith(b"\n%%EOF\n"), "6.1.3")
    # 6.1.7.1 and 6.1.9: spaces around keywords, and lengths. All objects are in streams.
    at, end = header.end(), data.rindex(b"startxref\n")
    while at < end:
        begin = re.compile(rb"\d+ 0 obj\n<< [^\n]*>>\nstream\n").match(data, at)
        test.assertTrue(begin, (at, data[at:at + 80]))
        length = int(re.search(rb" /Length (\d+) ", begin.group()).group(1))
        at = begin.end() + length
        test.assertEqual(data[at:at + 18], b"\nendstream\nendobj\n")
        at += 18
        at += data[at:at + 1] == b"\n"


def check_metadata(test, pdf):
    metadata = pdf.find(pdf.root["/Metadata"])["stream"]
    test.assertEqual((metadata["dict"]["/Type"], metadata["dict"]["/Subtype"]),
                     ("/Metadata", "/XML"))
    test.assertNotIn("/Filter", metadata["dict"], "6.6.2.1")
    packet = pdf.data(pdf.root["/Metadata"]).decode()
    test.assertRegex(packet.splitlines()[0], r'^<\?xpacket begin="\ufeff" id="W5M0[^"]*"\?>$')
    test.assertEqual([pdf.xmp_text("pdfaid:" + name) for name in ("part", "conformance")],
                     ["2", "B"], "6.6.4")
    info = pdf.info()
    for key, name in (("Title", "dc:title"), ("Author", "dc:creator"),
                      ("Subject", "dc:description"), ("Keywords", "pdf:Keywords"),
                      ("Creator", "xmp:CreatorTool"), ("Producer", "pdf:Producer")):
        test.assertEqual(info.get(key), pdf.xmp_text(name), name)
    for key, name in (("CreationDate", "xmp:CreateDate"), ("ModDate", "xmp:ModifyDate")):
        year, *rest = re.fullmatch(r"D:(....)(..)(..)(..)(..)(..)Z", info[key]).groups()
        test.assertEqual("{}-{}-{}T{}:{}:{}Z".format(year, *rest), pdf.xmp_text(name), name)
    test.assertEqual(pdf.xmp_text("dc:language"),
                     pdf.root.get("/Lang", "").removeprefix("u:") or None)


def check_colours(test, pdf):
    intent, = pdf.root["/OutputIntents"]
    intent = pdf.value(intent)
    test.assertEqual(intent["/S"], "/GTS_PDFA1", "6.2.3")
    profile = pdf.data(intent["/DestOutputProfile"])
    test.assertEqual(len(profile), int.from_bytes(profile[:4], "big"))
    test.assertEqual((profile[12:16], profile[16:20], profile[36:40]), (b"mntr", b"RGB ", b"acsp"))
    test.assertLess(profile[8], 5)
    test.assertEqual(pdf.value(intent["/DestOutputProfile"])["/N"], 3)


def check_colour_space(test, pdf, image):
    if image.get("/ImageMask"):
        test.assertNotIn("/ColorSpace", image)
    elif isinstance(image["/ColorSpace"], list):  # 6.2.4.2
        kind, profile = image["/ColorSpace"]
        test.assertEqual(kind, "/ICCBased")
        data = pdf.data(profile)
        test.assertIn((data[16:20], pdf.value(profile)["/N"]), ((b"GRAY", 1), (b"RGB ", 3)))
        test.assertLess(data[8], 5)
    else:
        test.assertIn(image["/ColorSpace"], ("/DeviceGray", "/DeviceRGB"))


def check_page(test, pdf, page):
    left, bottom, right, top = page["/MediaBox"]
    test.assertTrue(3 <= right - left <= 14400 and 3 <= top - bottom <= 14400, "6.1.13")
    for image in pdf.value(page["/Resources"])["/XObject"].values():
        image = pdf.value(image)
        test.assertEqual(image["/Subtype"], "/Image")
        check_colour_space(test, pdf, image)
        test.assertFalse(image.get("/Interpolate"), "6.2.8.1")
    for font in pdf.value(page["/Resources"]).get("/Font", {}).values():
        check_font(test, pdf, pdf.value(font))


def check_font(test, pdf, font):
    """Tesseract's font: a glyph for all characters, which is not .notdef, glyph 0."""
    test.assertEqual((font["/Type"], font["/Subtype"], font["/Encoding"]),
                     ("/Font", "/Type0", "/Identity-H"), "6.2.11.3")
    inner, = font["/DescendantFonts"]
    inner = pdf.value(inner)
    test.assertEqual(inner["/Subtype"], "/CIDFontType2")
    glyphs = pdf.data(inner["/CIDToGIDMap"])
    test.assertEqual(len(glyphs), 2 * 65536, "6.2.11.3.2")
    test.assertNotIn(0, {int.from_bytes(glyphs[i:i + 2], "big") for i in range(0, 131072, 2)},
                     "6.2.11.8")
    program_file = pdf.value(inner["/FontDescriptor"])["/FontFile2"]
    data = pdf.data(program_file)
    test.assertEqual(len(data), pdf.value(program_file)["/Length1"], "6.2.11.4.1")
    tables = {data[at:at + 4]: int.from_bytes(data[at + 8:at + 12], "big")
              for at in range(12, 12 + 16 * int.from_bytes(data[4:6], "big"), 16)}
    upem = int.from_bytes(data[tables[b"head"] + 18:tables[b"head"] + 20], "big")
    count = int.from_bytes(data[tables[b"hhea"] + 34:tables[b"hhea"] + 36], "big")
    last = tables[b"hmtx"] + 4 * (min(1, count - 1))
    width = int.from_bytes(data[last:last + 2], "big")
    test.assertEqual(1000 * width / upem, inner["/DW"], "6.2.11.5")
    test.assertNotIn("/W", inner)


def check(test, path):
    """@return the Document"""
    result = program.run(["qpdf", "--check", path])
    test.assertEqual(result.returncode, 0, result.stdout + result.stderr)
    pdf = Document(path)
    check_bytes(test, pdf.bytes)
    test.assertEqual([len(part) > 10 for part in pdf.trailer["/ID"]], [True, True], "6.1.3")
    test.assertLess(len(pdf.objects), 8388607, "6.1.13")
    for found in pdf.objects.values():
        value = found["stream"]["dict"] if "stream" in found else found["value"]
        for inner in every(value):
            test.assertEqual(FORBIDDEN & set(inner), set())
        if "stream" in found:
            test.assertIn(value.get("/Filter"), FILTERS, "6.1.7.2")
    test.assertNotIn("/Encrypt", pdf.trailer, "6.1.3")
    check_metadata(test, pdf)
    check_colours(test, pdf)
    for page in pdf.pages():
        check_page(test, pdf, page)
    return pdf
