# SPDX-License-Identifier: LGPL-2.1-or-later
"""Text for made pages, all in the public domain."""

PASSAGES = [
    # Lewis Carroll, Alice's Adventures in Wonderland, 1865
    "Alice was beginning to get very tired of sitting by her sister on the bank, and of having "
    "nothing to do: once or twice she had peeped into the book her sister was reading, but it had "
    "no pictures or conversations in it, and what is the use of a book, thought Alice, without "
    "pictures or conversations? So she was considering in her own mind (as well as she could, for "
    "the hot day made her feel very sleepy and stupid), whether the pleasure of making a "
    "daisy-chain would be worth the trouble of getting up and picking the daisies, when suddenly a "
    "White Rabbit with pink eyes ran close by her. There was nothing so very remarkable in that; "
    "nor did Alice think it so very much out of the way to hear the Rabbit say to itself, Oh dear! "
    "Oh dear! I shall be late! But when the Rabbit actually took a watch out of its "
    "waistcoat-pocket, and looked at it, and then hurried on, Alice started to her feet, for it "
    "flashed across her mind that she had never before seen a rabbit with either a "
    "waistcoat-pocket, or a watch to take out of it, and burning with curiosity, she ran across "
    "the field after it, and fortunately was just in time to see it pop down a large rabbit-hole "
    "under the hedge.",
    # Herman Melville, Moby-Dick, 1851
    "Call me Ishmael. Some years ago, never mind how long precisely, having little or no money in "
    "my purse, and nothing particular to interest me on shore, I thought I would sail about a "
    "little and see the watery part of the world. It is a way I have of driving off the spleen and "
    "regulating the circulation. Whenever I find myself growing grim about the mouth; whenever it "
    "is a damp, drizzly November in my soul; whenever I find myself involuntarily pausing before "
    "coffin warehouses, and bringing up the rear of every funeral I meet; and especially whenever "
    "my hypos get such an upper hand of me, that it requires a strong moral principle to prevent "
    "me from deliberately stepping into the street, and methodically knocking people's hats off, "
    "then, I account it high time to get to sea as soon as I can. This is my substitute for pistol "
    "and ball. With a philosophical flourish Cato throws himself upon his sword; I quietly take to "
    "the ship. There is nothing surprising in this. If they but knew it, almost all men in their "
    "degree, some time or other, cherish very nearly the same feelings towards the ocean with me.",
    # Henry David Thoreau, Walden, 1854
    "When I wrote the following pages, or rather the bulk of them, I lived alone, in the woods, a "
    "mile from any neighbor, in a house which I had built myself, on the shore of Walden Pond, in "
    "Concord, Massachusetts, and earned my living by the labor of my hands only. I lived there two "
    "years and two months. At present I am a sojourner in civilized life again. I should not "
    "obtrude my affairs so much on the notice of my readers if very particular inquiries had not "
    "been made by my townsmen concerning my mode of life. The boards cost $8.03, the refuse "
    "shingles $4.00, two second hand windows with glass $2.43, one thousand old brick $4.00, two "
    "casks of lime $2.40, hair $0.31, mantle tree iron $0.15, nails $3.90, hinges and screws "
    "$0.14, latch $0.10, chalk $0.01, and transportation $1.40; in all, $28.12. These are all the "
    "materials, excepting the timber, stones, and sand, which I claimed by squatter's right. I "
    "intend to build me a house which will surpass any on the main street in Concord in grandeur "
    "and luxury, as soon as it pleases me as much and will cost me no more than my present one.",
    # Jane Austen, Pride and Prejudice, 1813
    "It is a truth universally acknowledged, that a single man in possession of a good fortune, "
    "must be in want of a wife. However little known the feelings or views of such a man may be on "
    "his first entering a neighbourhood, this truth is so well fixed in the minds of the "
    "surrounding families, that he is considered as the rightful property of some one or other of "
    "their daughters. My dear Mr. Bennet, said his lady to him one day, have you heard that "
    "Netherfield Park is let at last? Mr. Bennet replied that he had not. But it is, returned she; "
    "for Mrs. Long has just been here, and she told me all about it. Mr. Bennet made no answer. Do "
    "not you want to know who has taken it? cried his wife impatiently. You want to tell me, and I "
    "have no objection to hearing it. This was invitation enough. Why, my dear, you must know, "
    "Mrs. Long says that Netherfield is taken by a young man of large fortune from the north of "
    "England; that he came down on Monday in a chaise and four to see the place, and was so much "
    "delighted with it that he agreed with Mr. Morris immediately; that he is to take possession "
    "before Michaelmas, and some of his servants are to be in the house by the end of next week.",
    # Edward Gibbon, The Decline and Fall of the Roman Empire, 1776
    "In the second century of the Christian Aera, the empire of Rome comprehended the fairest part "
    "of the earth, and the most civilized portion of mankind. The frontiers of that extensive "
    "monarchy were guarded by ancient renown and disciplined valor. The gentle but powerful "
    "influence of laws and manners had gradually cemented the union of the provinces. Their "
    "peaceful inhabitants enjoyed and abused the advantages of wealth and luxury. The image of a "
    "free constitution was preserved with decent reverence: the Roman senate appeared to possess "
    "the sovereign authority, and devolved on the emperors all the executive powers of government. "
    "During a happy period of more than fourscore years, A.D. 98-180, the public administration "
    "was conducted by the virtue and abilities of Nerva, Trajan, Hadrian, and the two Antonines. "
    "It is the design of this, and of the two succeeding chapters, to describe the prosperous "
    "condition of their empire; and afterwards, from the death of Marcus Antoninus, to deduce the "
    "most important circumstances of its decline and fall; a revolution which will ever be "
    "remembered, and is still felt by the nations of the earth.",
]
