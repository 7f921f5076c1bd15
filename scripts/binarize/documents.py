# SPDX-License-Identifier: LGPL-2.1-or-later
"""Scores on documents with ground truth, as they are and changed, and on a made page."""
import cv2
import numpy as np

from . import changes, layout, methods, scores


def dibco(args):
    everything = {**methods.ours(args.prototype), **methods.classical(), **methods.of_doxa()}
    documents = list(scores.documents(args.folder))
    if not documents:
        raise SystemExit(f"{args.folder}: no pairs NAME.png and NAME_gt.png")
    rows = []
    for name, method in everything.items():
        found = np.array([scores.performance(methods.ink(method, gray), truth)
                          for _, gray, truth in documents])
        f, pseudo, drd, psnr = found.T
        rows.append([name, *(float(v) for v in (
            f.mean(), np.percentile(f, 10), f.min(), pseudo.mean(), drd.mean(), psnr.mean())),
            documents[int(f.argmin())][0]])
    print(f"{len(documents)} documents:\n")
    scores.table(["method", "F", "F, p10", "F, worst", "pseudo-F", "DRD", "PSNR", "worst page"],
                 rows)


def robustness(args):
    everything = {**methods.ours(args.prototype), "NICK": methods.classical()["NICK"]}
    if args.only != "page":
        changed_documents(args.folder, everything)
    if args.only != "documents":
        made_page(args, everything)


def changed_documents(folder, everything):
    documents = list(scores.documents(folder))
    rows = []
    for change, apply in changes.CHANGES.items():
        found = {name: [] for name in everything}
        for number, (_, gray, truth) in enumerate(documents):
            gray, truth = apply(gray, truth, np.random.default_rng(number))
            for name, method in everything.items():
                found[name].append(scores.f_measure(methods.ink(method, gray), truth))
        rows.append([change, *(f"{np.mean(f):.1f} ({min(f):.0f})" for f in found.values())])
    print("Mean F-measure, and that of the worst document:\n")
    scores.table(["change", *everything], rows)


def made_page(args, everything):
    photo = cv2.imread(str(args.photo), cv2.IMREAD_GRAYSCALE) if args.photo else None
    if args.save:
        args.save.mkdir(parents=True, exist_ok=True)
    for scale in (1, 2):
        page = layout.Layout(scale, photo)
        inside = page.inside()
        rows = []
        for name, method in everything.items():
            ink = methods.ink(method, page.gray)
            row = [scores.f_measure(ink[page.slices(r)], page.truth[page.slices(r)])
                   for r in page.regions if r != "photograph"]
            shown = ink[page.slices("photograph")]
            rows.append([name, *row, scores.specks(shown), float(100 * shown.mean()),
                         float(100 * ink[~inside].mean())])
            if args.save:
                cv2.imwrite(str(args.save / f"layout-{150 * scale}-{name}.png"), scores.black(ink))
        if args.save:
            cv2.imwrite(str(args.save / f"layout-{150 * scale}.png"), page.gray)
        print(f"A made page at {150 * scale} dpi: F-measure in each region; specks and share of "
              "ink, in percent, in the photograph; share of ink in the black margins:\n")
        scores.table(["method", *(r for r in page.regions if r != "photograph"), "photo: specks",
                      "photo: ink", "margins: ink"], rows)
