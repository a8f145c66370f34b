// Class names that tell what an element is where its name does not: permalink signs, edit links, copy buttons, line
// numbers, drawn formulas. A class hides nothing that a reader would miss.

package markdown

// flags are the meanings of an element's class names.
type flags uint16

const (
	permalink flags = 1 << iota
	editLink
	copyButton
	gutter       // line numbers of code
	maybeGutter  // line numbers if it holds digits only
	codeLine     // one line of code
	mathSource   // TeX as text, to be drawn by a script
	mathDrawn    // a formula as drawn, beside its source
	mathDisplay  // a formula on a line of its own
	mathFallback // picture of a formula, its TeX as alternative text
	noteRef      // footnote reference
	noteBack     // the way back from a note
	emoji
	codeBox // wrapper of code and its buttons
)

// classFlags reads a class attribute.
func classFlags(class string) (f flags) {
	for i := 0; i < len(class); {
		for i < len(class) && class[i] <= ' ' {
			i++
		}
		start := i
		for i < len(class) && class[i] > ' ' {
			i++
		}
		if n := i - start; n >= 2 && n <= 34 {
			f |= nameFlag(class[start:i])
		}
	}
	return f
}

func nameFlag(name string) flags {
	switch name {
	case "headerlink", "header-anchor", "heading-anchor", "anchor", "anchorjs-link", "anchor-link", "hash-link", "permalink",
		"perma-link", "header-link", "heading-link", "octicon-link", "direct-link", "deep-link", "deeplink", "section-link",
		"toc-anchor", "headline-anchor", "markdownIt-Anchor", "heading-permalink", "rustdoc-anchor", "sl-anchor-link":
		return permalink
	case "mw-editsection", "editsection", "edit-link", "edit-page-link", "edit-this-page", "theme-edit-this-page", "editlink",
		"edit-on-github", "edit-page", "page-edit-link", "edit-button", "post-edit-link", "edit-post-link", "github-edit-link",
		"toc-edit-link", "edit_page", "btn-edit-page":
		return editLink
	case "copy", "copybtn", "copy-btn", "copy-button", "btn-copy", "button-copy", "copy-code", "copy-code-button", "copyBtn",
		"copy-to-clipboard-button", "clipboard-btn", "btn-clipboard", "clipboard-copy", "zeroclipboard-container", "copycode",
		"code-copy", "code-copy-button", "copy-icon", "hljs-copy-button", "code-copy-btn", "clipboard-button", "copyButton",
		"CopyButton", "js-clipboard-copy", "md-clipboard", "copy-snippet", "snippet-clipboard-content-copy":
		return copyButton
	case "lineno", "linenos", "lineNumber", "lineNumbers", "line-number", "line-numbers-rows", "linenumber", "linenumbers",
		"linenodiv", "gutter", "gutter-line", "lnt", "hljs-ln-numbers", "hljs-ln-n", "rouge-gutter", "blob-num", "line-no",
		"react-syntax-highlighter-line-number", "CodeMirror-linenumber", "token-line-number", "code-line-number",
		"LineNumber", "line-num", "line-nr", "lineno-inline", "highlight-line-number", "react-line-number":
		return gutter
	case "ln", "line-numbers", "lntd":
		return maybeGutter
	case "line", "token-line", "code-line", "view-line", "cm-line", "CodeMirror-line", "hljs-ln-line", "highlight-line",
		"react-code-line-contents", "react-file-line", "ec-line", "codeLine", "code_line", "cl-line", "source-line":
		return codeLine
	case "math", "arithmatex", "tex2jax_process", "latex", "tex", "mathjax-inline", "MathJax_Preview", "math-inline", "math-tex",
		"mathjax", "mathjax_process":
		return mathSource
	case "math-display", "math-block", "katex-display", "MJXc-display", "MathJax_Display", "display":
		return mathDisplay
	case "katex-html", "MathJax", "MathJax_SVG", "MathJax_CHTML", "mjx-chtml", "MathJax_MathML":
		return mathDrawn
	case "mwe-math-fallback-image-inline", "mwe-math-fallback-image-display", "ltx_Math", "eq-math", "ztext-math", "ee_img",
		"tr_noresize":
		return mathFallback
	case "footnote-ref", "footnote-reference", "footnoteRef", "footnote_ref", "fnref", "noteref",
		"footnote-anchor", "footref", "sdfootnoteanc", "footnote-link", "footnotes-ref", "easy-footnote":
		return noteRef
	case "footnote-backref", "footnote-back", "footnote-return", "footnote-backlink", "mw-cite-backlink", "reversefootnote",
		"fn-backref", "footback", "backref", "data-footnote-backref", "footnote-back-ref", "footnotes-backlink":
		return noteBack
	case "emoji", "wp-smiley", "twemoji", "emojione", "smiley", "g-emoji", "emoticon":
		return emoji
	case "highlight", "code-block", "codehilite", "code-toolbar", "code-wrapper", "codeblock", "code-block-wrapper", "shiki",
		"prism-code", "highlighter-rouge", "code-snippet", "snippet", "expressive-code", "syntaxhighlighter":
		return codeBox
	}
	return 0
}
