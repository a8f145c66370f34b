// Package formula reads the formulas of Office's documents: its mathematics as TeX, and the fields in which formulas were set
// before as text. It knows no document.
package formula

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/wayleave/wayleave/internal/document/pack"
	"github.com/wayleave/wayleave/internal/markdown/tex"
)

// Read reads what stands in the element that started, an m:oMath, as TeX.
func Read(x *pack.XML) (string, error) {
	m := mathReader{x: x}
	source, err := m.row()
	return tex.Tidy(source), err
}

// maxFormula is how many bytes of TeX a formula has; what does not fit is left out.
const maxFormula = 16 << 10

// mathReader makes TeX of Office's mathematics.
type mathReader struct{ x *pack.XML }

// row is all that stands in the element that started, side by side.
func (m *mathReader) row() (string, error) {
	var b strings.Builder
	err := m.x.Children(func(name string) error {
		part, err := m.part(name)
		if b.Len()+len(part) > maxFormula {
			return err
		}
		if part != "" && b.Len() > 0 && endsCommand(b.String()) && letter(part[0]) {
			b.WriteByte(' ')
		}
		b.WriteString(part)
		return err
	})
	return b.String(), err
}

// endsCommand says that TeX ends in the name of a command, which letters after it would go on with.
func endsCommand(s string) bool {
	const longest = 32
	i, least := len(s), max(0, len(s)-longest)
	for i > least && letter(s[i-1]) {
		i--
	}
	return i > 0 && i < len(s) && s[i-1] == '\\'
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// parts reads the elements directly below, those of one name in their order, and what the properties say.
func (m *mathReader) parts() (parts map[string][]string, props map[string]string, err error) {
	parts, props = map[string][]string{}, map[string]string{}
	err = m.x.Children(func(name string) error {
		if strings.HasSuffix(name, "Pr") {
			return m.x.Children(func(name string) error {
				props[name] = m.x.Attr("val")
				if props[name] == "" && !m.x.Has("val") {
					props[name] = "on"
				}
				return nil
			})
		}
		text, err := m.row()
		parts[name] = append(parts[name], text)
		return err
	})
	return parts, props, err
}

func first(parts []string) string {
	if len(parts) == 0 {
		return ""
	}
	return parts[0]
}

// part is one element.
func (m *mathReader) part(name string) (string, error) {
	switch name {
	case "r":
		return m.run()
	case "del", "moveFrom", "ctrlPr", "rPr":
		return "", nil
	case "t":
		text, err := m.x.AllText()
		return mathText(text), err
	case "m":
		return m.matrix()
	case "eqArr":
		parts, _, err := m.parts()
		return `\begin{aligned}` + strings.Join(parts["e"], ` \\ `) + `\end{aligned}`, err
	case "f", "rad", "sSup", "sSub", "sSubSup", "sPre", "nary", "d", "func", "acc", "bar", "limLow", "limUpp", "groupChr", "phant", "borderBox":
		parts, props, err := m.parts()
		return structure(name, parts, props), err
	}
	if strings.HasSuffix(name, "Pr") {
		return "", nil
	}
	return m.row() // box, ins and whatever else only holds others
}

// run reads m:r.
func (m *mathReader) run() (string, error) {
	var b strings.Builder
	upright := false
	err := m.x.Children(func(name string) error {
		switch name {
		case "rPr":
			return m.x.Children(func(name string) error {
				if name == "nor" && isOn(m.x.Attr("val")) {
					upright = true
				}
				return nil
			})
		case "t":
			text, err := m.x.AllText()
			if upright {
				text = `\text{` + strings.NewReplacer("{", "", "}", "", `\`, "", "$", "").Replace(text) + "}"
			} else {
				text = mathText(text)
				if functions[text] {
					text = `\` + text
				}
			}
			if b.Len() > 0 && endsCommand(b.String()) && text != "" && letter(text[0]) {
				b.WriteByte(' ')
			}
			b.WriteString(text)
			return err
		}
		return nil
	})
	return b.String(), err
}

func (m *mathReader) matrix() (string, error) {
	var rows []string
	err := m.x.Children(func(name string) error {
		if name != "mr" {
			return nil
		}
		parts, _, err := m.parts()
		rows = append(rows, strings.Join(parts["e"], " & "))
		return err
	})
	return `\begin{matrix}` + strings.Join(rows, ` \\ `) + `\end{matrix}`, err
}

func structure(name string, parts map[string][]string, props map[string]string) string {
	e := first(parts["e"])
	sub, sup := first(parts["sub"]), first(parts["sup"])
	switch name {
	case "f":
		num, den := first(parts["num"]), first(parts["den"])
		switch props["type"] {
		case "lin", "skw":
			return group(num) + "/" + group(den)
		case "noBar":
			return `{` + num + ` \atop ` + den + `}`
		}
		return `\frac{` + num + `}{` + den + `}`
	case "rad":
		if deg := first(parts["deg"]); deg != "" {
			return `\sqrt[` + deg + `]{` + e + `}`
		}
		return `\sqrt{` + e + `}`
	case "sSup":
		return group(e) + scripts("", sup)
	case "sSub":
		return group(e) + scripts(sub, "")
	case "sSubSup":
		return group(e) + scripts(sub, sup)
	case "sPre":
		return "{}" + scripts(sub, sup) + e
	case "nary":
		sign := `\int`
		if chr, ok := props["chr"]; ok {
			sign = strings.TrimSpace(mathText(chr))
		}
		return sign + scripts(sub, sup) + spaced(e)
	case "d":
		return delimited(parts["e"], props)
	case "func":
		return first(parts["fName"]) + spaced(e)
	case "acc":
		return accent(props["chr"]) + `{` + e + `}`
	case "bar":
		if props["pos"] == "top" {
			return `\overline{` + e + `}`
		}
		return `\underline{` + e + `}`
	case "limLow":
		return group(e) + scripts(first(parts["lim"]), "")
	case "limUpp":
		return group(e) + scripts("", first(parts["lim"]))
	case "groupChr":
		switch props["chr"] {
		case "⏞":
			return `\overbrace{` + e + `}`
		case "", "⏟":
			return `\underbrace{` + e + `}`
		}
		if props["pos"] == "top" {
			return `\overset{` + mathText(props["chr"]) + `}{` + e + `}`
		}
		return `\underset{` + mathText(props["chr"]) + `}{` + e + `}`
	case "phant":
		if _, ok := props["show"]; ok && !isOn(props["show"]) {
			return ""
		}
	}
	return e
}

// spaced keeps an operand apart from the command before it.
func spaced(e string) string {
	if e != "" && letter(e[0]) {
		return " " + e
	}
	return e
}

// group puts braces around what is more than one sign.
func group(s string) string {
	if utf8.RuneCountInString(s) <= 1 {
		return s
	}
	if s[0] == '\\' && strings.TrimLeft(s[1:], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" {
		return s
	}
	return "{" + s + "}"
}

func scripts(sub, sup string) string {
	out := ""
	if sub != "" {
		out += "_" + braced(sub)
	}
	if sup != "" {
		out += "^" + braced(sup)
	}
	return out
}

func braced(s string) string {
	if utf8.RuneCountInString(s) == 1 {
		return s
	}
	return "{" + s + "}"
}

func delimited(parts []string, props map[string]string) string {
	sign := func(name, usual string) string {
		v, ok := props[name]
		switch {
		case !ok:
			return usual
		case v == "" || v == "on":
			return "."
		case v == "{" || v == "}":
			return `\` + v
		}
		return strings.TrimSpace(mathText(v))
	}
	begin, end, between := sign("begChr", "("), sign("endChr", ")"), sign("sepChr", "|")
	if between == "." {
		between = ""
	}
	inner := strings.Join(parts, between)
	if begin == "(" && end == ")" && !strings.Contains(inner, `\frac`) && !strings.Contains(inner, `\begin`) {
		return "(" + inner + ")"
	}
	return `\left` + begin + spaced(inner) + `\right` + end
}

func accent(chr string) string {
	switch chr {
	case "\u0302", "":
		return `\hat`
	case "\u0303":
		return `\tilde`
	case "\u0304", "\u0305", "\u00af":
		return `\bar`
	case "\u0307":
		return `\dot`
	case "\u0308":
		return `\ddot`
	case "\u20d7", "\u20d1":
		return `\vec`
	case "\u030c":
		return `\check`
	case "\u0306":
		return `\breve`
	}
	return `\hat`
}

// mathText is the TeX of characters. Letters of mathematical alphabets are the letters that they stand for.
func mathText(text string) string {
	var b strings.Builder
	for _, c := range text {
		if c >= 0x1D400 && c <= 0x1D7FF {
			for _, plain := range norm.NFKC.String(string(c)) {
				c = plain
			}
		}
		switch c {
		case '\u2061', '\u2062', '\u2063', '\u2064', '\u200b': // operators that nobody sees
		case '−', '–':
			b.WriteByte('-')
		case '#', '%', '&', '_', '{', '}':
			b.WriteByte('\\')
			b.WriteRune(c)
		case '\\':
			b.WriteString(`\backslash `)
		case '~':
			b.WriteString(`\sim `)
		case '^':
			b.WriteString(`\hat{} `)
		case '$':
			b.WriteString(`\$`)
		default:
			if name := command(c); name != "" {
				b.WriteString(`\` + name + ` `)
			} else {
				b.WriteRune(c)
			}
		}
	}
	return strings.TrimRight(b.String(), " ")
}

// command is the TeX of a sign that Markdown's readers of mathematics may not know as it is.
func command(c rune) string { return commands[c] }

var commands = map[rune]string{'∑': "sum", '∏': "prod", '∐': "coprod", '∫': "int", '∬': "iint", '∭': "iiint", '∮': "oint", '∞': "infty", '√': "surd",
	'±': "pm", '∓': "mp", '×': "times", '÷': "div", '⋅': "cdot", '∙': "cdot", '≤': "le", '≥': "ge", '≠': "ne", '≈': "approx", '≡': "equiv", '→': "to", '⇒': "Rightarrow",
	'⇔': "Leftrightarrow", '←': "leftarrow", '∂': "partial", '∇': "nabla", '∈': "in", '∉': "notin", '⊂': "subset", '⊆': "subseteq", '∪': "cup",
	'∩': "cap", '∀': "forall", '∃': "exists", '∅': "emptyset", '…': "ldots", '⋯': "cdots", '∝': "propto", '⟨': "langle", '⟩': "rangle", '∧': "wedge", '∨': "vee",
	'α': "alpha", 'β': "beta", 'γ': "gamma", 'δ': "delta", 'ε': "varepsilon", 'ϵ': "epsilon", 'ζ': "zeta", 'η': "eta", 'θ': "theta", 'ι': "iota",
	'κ': "kappa", 'λ': "lambda", 'μ': "mu", 'ν': "nu", 'ξ': "xi", 'π': "pi", 'ρ': "rho", 'σ': "sigma", 'τ': "tau", 'υ': "upsilon", 'φ': "varphi",
	'ϕ': "phi", 'χ': "chi", 'ψ': "psi", 'ω': "omega", 'Γ': "Gamma", 'Δ': "Delta", 'Θ': "Theta", 'Λ': "Lambda", 'Ξ': "Xi", 'Π': "Pi", 'Σ': "Sigma",
	'∘': "circ", '⋃': "bigcup", '⋂': "bigcap", '⋀': "bigwedge", '⋁': "bigvee", '∯': "oiint", '∰': "oiiint", '≅': "cong", '≪': "ll", '≫': "gg",
	'⊥': "perp", '∥': "parallel", '⊕': "oplus", '⊗': "otimes", '↦': "mapsto", '↔': "leftrightarrow", 'ℏ': "hbar", '⌊': "lfloor", '⌋': "rfloor",
	'⌈': "lceil", '⌉': "rceil", '⋮': "vdots", '⋱': "ddots", '∖': "setminus", '⊃': "supset", '⊇': "supseteq", '¬': "neg",
	'Φ': "Phi", 'Ψ': "Psi", 'Ω': "Omega"}

// functions are the names that TeX sets upright by commands of the same name.
var functions = map[string]bool{"sin": true, "cos": true, "tan": true, "cot": true, "sec": true, "csc": true, "arcsin": true, "arccos": true, "arctan": true,
	"sinh": true, "cosh": true, "tanh": true, "coth": true, "log": true, "ln": true, "lg": true, "exp": true, "lim": true, "liminf": true, "limsup": true, "max": true,
	"min": true, "sup": true, "inf": true, "det": true, "dim": true, "ker": true, "gcd": true, "arg": true, "deg": true, "hom": true}

// isOn reads a switch.
func isOn(val string) bool {
	switch val {
	case "0", "false", "off", "none":
		return false
	}
	return true
}
