// The language of code, from the class and data attributes that highlighters leave on the block or its wrapper.

package facts

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Language names the language of a code element; empty where nothing names one. The element itself decides before
// the code in it, that before its wrappers.
func Language(n *html.Node) string {
	if lang := languageOf(n, true); lang != "" {
		return lang
	}
	const look = 100 // nodes; line numbers may come before the code
	inner := Following(n, n)
	for i := 0; inner != nil && i < look; i++ {
		if inner.DataAtom == atom.Code || inner.DataAtom == atom.Pre {
			if lang := languageOf(inner, true); lang != "" {
				return lang
			}
		}
		inner = Following(n, inner)
	}
	const wrappers = 4 // how far up a highlighter wraps
	p := n.Parent
	for i := 0; i < wrappers && p != nil && p.Type == html.ElementNode; i++ {
		switch p.DataAtom {
		case atom.Body, atom.Li, atom.Blockquote, atom.Article, atom.Main, atom.Section:
			return ""
		}
		if lang := languageOf(p, false); lang != "" {
			return lang
		}
		p = p.Parent
	}
	return ""
}

// languageOf reads one element's attributes. own says that it is the code itself, whose class may be the bare name
// of a language.
func languageOf(n *html.Node, own bool) string {
	lang := ""
	for i := range n.Attr {
		a := &n.Attr[i]
		switch a.Key {
		case "data-lang", "data-language", "data-code-lang", "data-code-language", "data-enlighter-language", "data-syntax",
			"data-highlight-language", "data-pbcklang", "data-codeblock-lang":
			if name := languageName(a.Val); name != "" {
				return name
			}
		case "lang", "syntax", "language":
			if name := languageName(a.Val); own && known(name) {
				lang = name
			}
		case "class":
			if name := classLanguage(a.Val, own); name != "" {
				lang = name
			}
		}
	}
	return lang
}

// classLanguage reads a class attribute.
func classLanguage(class string, own bool) string {
	if i := strings.Index(class, "brush:"); i >= 0 {
		name := strings.TrimLeft(class[i+len("brush:"):], " '\"")
		end := strings.IndexAny(name, " ;,'\"")
		if end < 0 {
			end = len(name)
		}
		return languageName(name[:end])
	}
	bare, marked := "", false
	for name := range strings.FieldsSeq(class) {
		for _, prefix := range []string{"language-", "lang-", "highlight-source-", "mw-highlight-lang-", "highlight-text-",
			"sourceCode-", "src-", "highlight-", "syntax-", "brush-", "code-lang-", "lang:"} {
			rest, ok := strings.CutPrefix(name, prefix)
			if !ok {
				continue
			}
			lang := languageName(rest)
			if lang != "" && (prefix == "language-" || prefix == "lang-" || prefix == "lang:" || prefix == "highlight-source-" ||
				prefix == "mw-highlight-lang-" || known(lang)) {
				return lang
			}
			break
		}
		switch name {
		case "highlight", "hljs", "prettyprint", "sourceCode", "src", "codehilite", "syntaxhighlighter", "prism", "chroma", "shiki",
			"rouge", "pygments", "crayon", "code", "CodeRay":
			marked = true
		default:
			if bare == "" && known(strings.ToLower(name)) {
				bare = strings.ToLower(name)
			}
		}
	}
	if own || marked {
		return bare
	}
	return ""
}

// languageName is a name as a fence carries it; empty for those that name no language.
func languageName(s string) string {
	s = strings.ToLower(strings.TrimSpace(s))
	if len(s) == 0 || len(s) > 30 {
		return ""
	}
	for i := range len(s) {
		if c := s[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && strings.IndexByte("+#.-_", c) < 0 {
			return ""
		}
	}
	switch s {
	case "none", "text", "plaintext", "plain", "txt", "nohighlight", "no-highlight", "default", "auto", "undefined", "null",
		"unknown", "raw", "code", "notranslate", "plain-text", "plain_text", "ascii":
		return ""
	}
	return s
}

// known says that a word, in lower case, is the usual name of a language.
func known(s string) bool {
	switch s {
	case "abap", "ada", "apache", "apex", "applescript", "arduino", "asm", "assembly", "awk", "bash", "basic", "bat", "batch", "bibtex",
		"c", "c#", "c++", "clj", "clojure", "cmake", "cmd", "cobol", "coffeescript", "common-lisp", "console", "cpp", "cs", "csharp", "css",
		"csv", "cuda", "cypher", "d", "dart", "delphi", "diff", "django", "docker", "dockerfile", "dos", "elisp", "elixir", "emacs-lisp", "elm",
		"erb", "erlang", "f#", "fish", "fortran", "fsharp", "gherkin", "glsl", "go", "golang", "gradle", "graphql", "groovy", "haml",
		"handlebars", "haskell", "hcl", "hlsl", "html", "http", "ini", "java", "javascript", "jinja", "jinja2", "js", "json", "json5",
		"jsonc", "jsx", "julia", "kotlin", "kt", "latex", "less", "lisp", "llvm", "lua", "make", "makefile", "markdown", "mathematica",
		"matlab", "md", "mermaid", "mysql", "nasm", "nginx", "nim", "nix", "objc", "objective-c", "objectivec", "ocaml", "pascal",
		"perl", "pgsql", "php", "pl", "postgresql", "plantuml", "plsql", "powershell", "prisma", "prolog", "properties", "proto", "protobuf", "ps1",
		"pug", "puppet", "py", "pycon", "python", "python2", "python3", "qml", "r", "racket", "rb", "regex", "rs", "rst", "ruby", "rust",
		"sas", "sass", "scala", "scheme", "scss", "sh", "shell", "shell-session", "smalltalk", "solidity", "sparql", "sql", "stylus",
		"svelte", "svg", "swift", "systemverilog", "tcl", "terraform", "tex", "tf", "toml", "ts", "tsx", "twig", "typescript", "vb",
		"vb.net", "vba", "vbnet", "verilog", "vhdl", "vim", "vue", "wasm", "wat", "xml", "xquery", "yaml", "yml", "zig", "zsh":
		return true
	}
	return false
}
