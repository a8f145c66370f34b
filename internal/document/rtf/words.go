package rtf

import (
	"strconv"

	"github.com/wayleave/wayleave/internal/document/prose"
)

// silentWords begin groups whose text is none of the document's.
var silentWords = map[string]bool{
	"colortbl": true, "stylesheet": true, "info": true, "pict": true, "nonshppict": true, "objdata": true, "objclass": true, "objname": true, "fldinst": true,
	"header": true, "headerl": true, "headerr": true, "headerf": true, "footer": true, "footerl": true, "footerr": true, "footerf": true,
	"annotation": true, "atnid": true, "atnauthor": true, "listtable": true, "listoverridetable": true, "revtbl": true, "rsidtbl": true, "themedata": true,
	"datastore": true, "latentstyles": true, "generator": true, "xmlnstbl": true, "filetbl": true, "template": true, "private": true, "pgdsctbl": true,
	"bkmkstart": true, "bkmkend": true, "xe": true, "tc": true, "ftnsep": true, "ftnsepc": true, "ftncn": true, "aftnsep": true, "aftnsepc": true, "aftncn": true,
	"shprslt": true, "mmathPr": true, "falt": true, "panose": true, "sp": true, "pntxta": true, "pntxtb": true, "colorschememapping": true, "wgrffmtfilter": true,
}

// signs are characters that have words.
var signs = map[string]string{
	"emdash": "—", "endash": "–", "emspace": "\u2003", "enspace": "\u2002", "qmspace": "\u2005", "bullet": "•", "lquote": "‘", "rquote": "’",
	"ldblquote": "“", "rdblquote": "”", "tab": "\t", "zwj": "\u200d", "zwnj": "\u200c",
}

// encodings of fonts by their \fcharset.
var encodings = map[int]string{
	128: "shift_jis", 129: "euc-kr", 134: "gbk", 136: "big5", 161: "windows-1253", 162: "windows-1254", 163: "windows-1258", 177: "windows-1255",
	178: "windows-1256", 186: "windows-1257", 204: "windows-1251", 222: "windows-874", 238: "windows-1250", 77: "macintosh",
}

// mostFonts is how many fonts are told apart.
const mostFonts = 4096

// pages are encodings of documents by their \ansicpg, where the label is not windows- and the number.
var pages = map[int]string{932: "shift_jis", 936: "gbk", 949: "euc-kr", 950: "big5", 65001: "utf-8", 10000: "macintosh", 437: "ibm866", 850: "windows-1252", 866: "ibm866"}

// word is a control word with its number; starts says that it is the first of its group.
func (r *reader) word(word string, n int, given, starts bool) {
	if word == "bin" {
		if n > 0 {
			r.at += min(n, len(r.s)-r.at)
		}
		return
	}
	if word == "u" {
		if given {
			r.unicode(n)
		}
		return
	}
	if r.drop > 0 && signs[word] != "" { // a word counts as one character
		r.drop--
		return
	}
	r.flush()
	g := r.top()
	if starts && r.begins(word) {
		return
	}
	on := !given || n != 0
	switch word {
	case "uc":
		g.skip = min(max(n, 0), 16)
	case "ansicpg":
		if r.page = pages[n]; r.page == "" {
			r.page = "windows-" + strconv.Itoa(n)
		}
	case "mac":
		r.page = "macintosh"
	case "f", "deff":
		g.font = n
	case "fcharset":
		if g.quiet == fonts && len(r.fonts) < mostFonts {
			r.fonts[g.font] = encodings[n]
		}
	case "b":
		g.style = with(g.style, prose.Bold, on)
	case "i":
		g.style = with(g.style, prose.Italic, on)
	case "strike":
		g.style = with(g.style, prose.Struck, on)
	case "super":
		g.style = with(g.style&^prose.Lowered, prose.Raised, on)
	case "sub":
		g.style = with(g.style&^prose.Raised, prose.Lowered, on)
	case "nosupersub":
		g.style &^= prose.Raised | prose.Lowered
	case "v", "deleted":
		g.hidden = on
	case "plain":
		g.style, g.hidden = 0, false
	default:
		switch {
		case g.quiet == shown:
			r.paragraphWord(word, n)
		case g.quiet == note && word == "par":
			r.say(" ")
		}
		if s := signs[word]; s != "" {
			r.say(s)
		}
	}
}

// begins says that a word makes its group one whose text is not shown here.
func (r *reader) begins(word string) bool {
	g := r.top()
	switch {
	case silentWords[word]:
		g.quiet = silent
	case word == "fonttbl":
		g.quiet = fonts
	case word == "listtext", word == "pntext":
		if g.quiet == shown {
			g.quiet, r.item = listing, true
		}
	case word == "footnote": // with a star or without
		if len(r.groups) > 1 && r.around() == shown {
			g.quiet = note
			r.say(" (")
		}
	case word == "shpinst", word == "shptxt", word == "shppict", word == "shp":
		// They hold text, or what is silent by its own name. Those of drawings begin with a star.
		g.quiet = r.around()
	default:
		return false
	}
	return true
}

// around is what the group around the last one is for.
func (r *reader) around() dest {
	if len(r.groups) < 2 || r.deeper > 0 {
		return silent
	}
	return r.groups[len(r.groups)-2].quiet
}

// paragraphWord is one that speaks of paragraphs and tables.
func (r *reader) paragraphWord(word string, n int) {
	switch word {
	case "par", "sect", "page":
		r.endParagraph()
	case "pard":
		r.is = paragraph{}
	case "line":
		r.add(prose.Run{Kind: prose.Break})
	case "outlinelevel":
		if n >= 0 && n < 9 {
			r.is.level = n + 1
		}
	case "ilvl":
		r.is.depth = min(max(n, 0), 8)
	case "intbl":
		r.is.inTable = true
	case "cell":
		r.endCell()
	case "nestcell":
		r.endParagraph()
	case "row":
		r.endRow()
	}
}

func with(s, what prose.Style, on bool) prose.Style {
	if on {
		return s | what
	}
	return s &^ what
}
