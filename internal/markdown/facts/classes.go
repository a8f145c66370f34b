// Class names that tell what an element is where its name does not: permalink signs, edit links, copy buttons, line
// numbers, drawn formulas. A class hides nothing that a reader would miss.

package facts

// Flags are the meanings of an element's class names.
type Flags uint32

// The flags.
const (
	Permalink Flags = 1 << iota // sign beside a heading
	EditLink
	CopyButton
	Gutter       // line numbers of code
	MaybeGutter  // line numbers if it holds digits only
	CodeLine     // one line of code
	CodeLines    // around lines of code that may stand in no pre
	EditorGutter // line numbers beside an editor's lines, where nothing else tells that they are code
	MathSource   // TeX as text, to be drawn by a script
	MathDrawn    // a formula as drawn, beside its source
	MathInline   // with MathSource: the text is TeX without a frame
	MathDisplay  // a formula on a line of its own
	MathFallback // picture of a formula, its TeX as alternative text
	NoteRef      // footnote reference
	NoteBack     // the way back from a note
	Emoji
	Unseen // words for those who hear the page, apart from what stands beside them
)

// ClassFlags reads a class attribute.
func ClassFlags(class string) (f Flags) {
	token := false
	for i := 0; i < len(class); {
		for i < len(class) && class[i] <= ' ' {
			i++
		}
		start := i
		for i < len(class) && class[i] > ' ' {
			i++
		}
		if n := i - start; n >= 2 && n <= 34 {
			name := class[start:i]
			f |= nameFlag(name)
			token = token || name == "token"
		}
	}
	if token { // Prism marks pieces of a line so
		f &^= CodeLine
	}
	return f
}

func nameFlag(name string) Flags {
	switch name {
	case "headerlink", "header-anchor", "heading-anchor", "anchor", "anchorjs-link", "anchor-link", "hash-link", "permalink",
		"perma-link", "header-link", "heading-link", "octicon-link", "direct-link", "deep-link", "deeplink", "section-link",
		"toc-anchor", "headline-anchor", "markdownIt-Anchor", "heading-permalink", "rustdoc-anchor", "sl-anchor-link":
		return Permalink
	case "mw-editsection", "editsection", "edit-link", "edit-page-link", "edit-this-page", "theme-edit-this-page", "editlink",
		"edit-on-github", "edit-page", "page-edit-link", "edit-button", "post-edit-link", "edit-post-link", "github-edit-link",
		"toc-edit-link", "edit_page", "btn-edit-page":
		return EditLink
	case "copy", "copybtn", "copy-btn", "copy-button", "btn-copy", "button-copy", "copy-code", "copy-code-button", "copyBtn",
		"copy-to-clipboard-button", "clipboard-btn", "btn-clipboard", "clipboard-copy", "zeroclipboard-container", "copycode",
		"code-copy", "code-copy-button", "copy-icon", "hljs-copy-button", "code-copy-btn", "clipboard-button", "copyButton",
		"CopyButton", "js-clipboard-copy", "md-clipboard", "copy-snippet", "snippet-clipboard-content-copy":
		return CopyButton
	case "lineno", "linenos", "lineNumber", "lineNumbers", "line-number", "line-numbers-rows", "linenumber", "linenumbers",
		"linenodiv", "gutter", "gutter-line", "lnt", "hljs-ln-numbers", "hljs-ln-n", "rouge-gutter", "blob-num", "line-no",
		"react-syntax-highlighter-line-number", "CodeMirror-linenumber", "token-line-number", "code-line-number",
		"LineNumber", "line-num", "line-nr", "lineno-inline", "highlight-line-number", "react-line-number", "CodeMirror-gutter-elt",
		"CodeMirror-gutter-wrapper":
		return Gutter
	case "ln", "line-numbers", "lntd":
		return MaybeGutter
	case "line", "token-line", "code-line", "view-line", "cm-line", "CodeMirror-line", "hljs-ln-line", "highlight-line",
		"react-code-line-contents", "react-file-line", "ec-line", "codeLine", "code_line", "cl-line", "source-line",
		"gatsby-highlight-code-line":
		return CodeLine
	case "fragment", "prism-code", "cm-content", "CodeMirror-code", "view-lines":
		return CodeLines
	case "cm-gutters", "CodeMirror-gutters", "margin-view-overlays":
		return EditorGutter | Gutter
	case "math", "arithmatex", "tex2jax_process", "latex", "tex", "mathjax-inline", "MathJax_Preview", "math-tex",
		"mathjax", "mathjax_process", "math-container":
		return MathSource
	case "inline":
		return MathInline
	case "math-inline":
		return MathSource | MathInline
	case "math-display", "math-block":
		return MathSource | MathDisplay
	case "katex-display", "MJXc-display", "MathJax_Display", "display",
		"ltx_equation", "ltx_equationgroup", "ltx_eqn_table":
		return MathDisplay
	case "katex-html", "MathJax", "MathJax_SVG", "MathJax_CHTML", "mjx-chtml", "MathJax_MathML":
		return MathDrawn
	case "mwe-math-fallback-image-inline", "mwe-math-fallback-image-display", "ltx_Math", "eq-math", "ztext-math", "ee_img",
		"tr_noresize":
		return MathFallback
	case "footnote-ref", "footnote-reference", "footnoteRef", "footnote_ref", "fnref", "noteref",
		"footnote-anchor", "footref", "sdfootnoteanc", "footnote-link", "footnotes-ref", "easy-footnote":
		return NoteRef
	case "footnote-backref", "footnote-back", "footnote-return", "footnote-backlink", "mw-cite-backlink", "reversefootnote",
		"fn-backref", "footback", "backref", "data-footnote-backref", "footnote-back-ref", "footnotes-backlink":
		return NoteBack
	case "emoji", "wp-smiley", "twemoji", "emojione", "smiley", "g-emoji", "emoticon":
		return Emoji
	case "sr-only", "screen-reader-text", "visually-hidden", "visuallyhidden", "sr-text", "screenreader", "screen-reader-only",
		"screen-reader", "screenreader-only", "u-visually-hidden", "v-visually-hidden", "offscreen", "off-screen", "a-offscreen",
		"assistive-text", "element-invisible", "hide-visually", "a11y-hidden", "u-hiddenVisually", "is-sr-only", "show-for-sr",
		"accessibility-text", "screen-reader-offscreen", "is-visually-hidden", "VisuallyHidden":
		return Unseen
	}
	return 0
}
