package webfetch

// From a body to the text of a page: what it is, in which encoding, and how it becomes readable.

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"

	"github.com/wayleave/wayleave/internal/bodytype"
	"github.com/wayleave/wayleave/internal/charset"
	"github.com/wayleave/wayleave/internal/htmltree"
	"github.com/wayleave/wayleave/internal/htmltree/xhtml"
	"github.com/wayleave/wayleave/internal/jsontext"
	"github.com/wayleave/wayleave/internal/maincontent"
	"github.com/wayleave/wayleave/internal/maincontent/declared"
	"github.com/wayleave/wayleave/internal/markdown"
	"github.com/wayleave/wayleave/internal/markdown/linklist"
	"github.com/wayleave/wayleave/internal/markdown/scribe"
	"github.com/wayleave/wayleave/internal/mdtext"
	"github.com/wayleave/wayleave/internal/thin"
	"github.com/wayleave/wayleave/internal/untrusted"
	"github.com/wayleave/wayleave/weburl"
)

// reply is a response that was read whole. status is 0 where bytes came without one.
type reply struct {
	url         string
	status      int
	contentType []string // as served, in order
	format      Format
	retryAfter  []string // as served
	refresh     string   // as served; empty for none and for several
	pointers    []string // references of its header fields, to what belongs to the page
	body        []byte
	mediaType   string // by which the body is read; empty before read knows it
}

// failure is an error of this reply.
func (r *reply) failure(code Code, reason string, cause error) *Error {
	mediaType := r.mediaType
	if mediaType == "" {
		mediaType, _ = bodytype.ParseContentType(r.contentType)
	}
	return failure(code, r.status, r.url, mediaType, reason, cause)
}

func (r *reply) tooLarge(limit int64, detail string) *Error {
	e := r.failure(CodeTooLarge, fmt.Sprintf("the body is larger than %d bytes", limit), errors.New(detail))
	e.LimitBytes = limit
	return e
}

// failed tells whether the response itself reports a failure.
func (r *reply) failed() bool { return r.status >= http.StatusBadRequest }

// content is what a body says.
type content struct {
	via       Via
	mediaType string
	title     string
	text      string
	kind      Part // empty for the whole page
	fullChars int  // of the whole page, where text is a part of it
	links     []Link
	declared  *Declared
	refs      []string // of the tree's links, to what belongs to the page
	thin      []Thin
	notes     []Note
}

// converter turns replies into content. A nil html means the built-in conversion, nil documents that there is none.
type converter struct {
	html      Converter
	documents Documents
	part      Part // of an HTML page
	links     Links
	list      bool         // the page's links are asked for
	turns     *Conversions // nil: everyone at once
}

// asked is the converter for a request that may say what of a page it wants.
func (c converter) asked(req Request) converter {
	if req.Content != "" {
		c.part = req.Content
	}
	c.list = c.list || req.Links
	return c
}

// Convert treats body exactly as Fetch treats a body that was served with the given Content-Type headers, and sends
// nothing. baseURL is the page's own address, which its links are made absolute against; empty leaves relative links as
// they are. Of the options Content, Links, ListLinks, MaxBodyBytes, Timeout, Converter and Documents apply. The page has no
// final URL and no status. Errors are as for Fetch; a bad baseURL is CodeInvalidInput with the field base_url.
func Convert(ctx context.Context, body []byte, contentType []string, baseURL string, opts Options) (*Page, error) {
	if err := opts.validate(); err != nil {
		return nil, err
	}
	r := &reply{contentType: contentType, body: body}
	if baseURL = trimURL(baseURL); baseURL != "" {
		u, err := weburl.Parse(baseURL)
		if err != nil {
			return nil, invalidInput("base_url", clip(baseURL, weburl.MaxLength), err.Error())
		}
		r.url = u.String()
	}
	if limit := valueOr(opts.MaxBodyBytes, DefaultMaxBodyBytes); int64(len(body)) > limit {
		return nil, r.tooLarge(limit, fmt.Sprintf("it has %d", len(body)))
	}
	c := converter{html: opts.Converter, documents: opts.Documents, part: opts.Content, links: opts.Links, list: opts.ListLinks}
	return within(ctx, valueOr(opts.Timeout, DefaultTimeout), baseURL, func(ctx context.Context) (*Page, error) {
		got, err := c.read(ctx, r)
		if err != nil {
			return nil, err
		}
		p := got.page(int64(len(body)))
		p.RequestedURL = baseURL
		return p, nil
	})
}

// page is a Page of this content; what is known of the response is for the caller to add.
func (c *content) page(bytes int64) *Page {
	chars := utf8.RuneCountInString(c.text)
	kind, full := PartFull, chars
	if c.kind == PartMain {
		kind, full = PartMain, max(chars, c.fullChars)
	}
	return &Page{ContentType: c.mediaType, Via: c.via, Title: c.title, Content: c.text, ContentKind: kind,
		TotalChars: chars, FullChars: full, Bytes: bytes, Redirects: []string{}, Provider: "direct", Links: c.links, Declared: c.declared, Thin: c.thin, Notes: c.notes}
}

// read decides what a reply is and reads it. A failure response without readable text is CodeHTTPError, whatever else
// would be said of its body.
func (c converter) read(ctx context.Context, r *reply) (*content, error) {
	served, label := bodytype.ParseContentType(r.contentType)
	r.mediaType = bodytype.Sniff(r.body, served, label)
	k := bodytype.KindOf(r.mediaType)
	if r.failed() && (len(r.body) == 0 || !k.Textual()) {
		return nil, r.httpError(nil)
	}
	got, err := c.convert(ctx, r, k, label)
	if err != nil {
		if ctx.Err() == nil && r.failed() {
			return nil, r.httpError(err)
		}
		return nil, err
	}
	if r.failed() && isBlank(got.text) {
		return nil, r.httpError(nil)
	}
	if wait := retryAfter(r.retryAfter); wait > 0 && passing(r.status) {
		got.notes = append(got.notes, comeBackNote(r.status, wait))
	}
	return got, nil
}

func (r *reply) httpError(cause error) *Error {
	e := r.failure(CodeHTTPError, fmt.Sprintf("the site answered %d without a readable body", r.status), cause)
	if e.Retryable {
		e.RetryAfter = retryAfter(r.retryAfter)
	}
	return e
}

// maxRetryAfter is the longest wait that is passed on: who is told of a longer one goes elsewhere.
const maxRetryAfter = time.Hour

// retryAfter reads the header where it is one number of seconds within bounds, and is zero for all else.
func retryAfter(served []string) time.Duration {
	if len(served) != 1 {
		return 0
	}
	n, err := strconv.ParseUint(strings.TrimSpace(served[0]), 10, 16)
	if d := time.Duration(n) * time.Second; err == nil && d <= maxRetryAfter {
		return d
	}
	return 0
}

// convert reads a body of a kind. Converters are strangers to us and to each other: one that panics fails this body.
func (c converter) convert(ctx context.Context, r *reply, k bodytype.Kind, label string) (got *content, err error) {
	defer func() {
		if p := recover(); p != nil {
			got, err = nil, r.failure(CodeConversionFailed, "the body could not be converted", fmt.Errorf("panic: %v", p))
		}
	}()
	raw := r.format == FormatRaw
	if k == bodytype.Binary || k == bodytype.Document && (raw || c.documents == nil) {
		var cause error
		if k == bodytype.Document && c.documents != nil {
			cause = errRawDocument
		}
		return nil, r.failure(CodeUnsupportedContentType, "a body of type "+r.mediaType+" cannot be read as text", cause)
	}
	if k == bodytype.Document {
		return c.document(ctx, r)
	}
	text, _ := charset.Decode(r.body, label, bodytype.MarkupOf(r.mediaType))
	got = &content{via: ViaText, mediaType: r.mediaType, text: text}
	switch {
	case k == bodytype.HTML && !raw:
		err = c.page(ctx, r, got)
	case k == bodytype.HTML:
		got.title = mdtext.HTMLTitle(text)
	case k == bodytype.Markdown:
		got.via, got.title = ViaMarkdown, mdtext.MarkdownTitle(text)
	case k == bodytype.JSON && !raw:
		if indented, ok := jsontext.Indent(text); ok {
			got.via, got.text = ViaJSON, indented
		}
	}
	if err != nil {
		return nil, err
	}
	got.title = mdtext.ClipTitle(got.title)
	got.point(r, got.refs...)
	if k != bodytype.HTML || raw || c.html != nil { // else the tree has spoken
		got.thin = textFacts(k, raw, r, got)
	}
	if raw {
		got.via = ViaRaw
		return got, nil
	}
	got.leaveOutInvisible()
	return got, ctx.Err()
}

// page converts HTML: got.text is the source before and the Markdown after.
func (c converter) page(ctx context.Context, r *reply, got *content) error {
	got.via = ViaConverted
	source := got.text
	if c.html != nil {
		md, err := c.html.ConvertHTML(ctx, HTML{MediaType: r.mediaType, Text: source, BaseURL: r.url})
		if err == nil && isBlank(md) {
			err = errors.New("the converter gave no text")
		}
		if err != nil {
			return r.unconverted(ctx, err)
		}
		got.text, got.title = mdtext.Tidy(md), mdtext.HTMLTitle(source)
		return nil
	}
	leave, err := c.turns.enter(ctx, len(source))
	if err != nil {
		return err
	}
	defer leave()
	room := htmltree.Enter()
	defer room.Leave() // nothing of content points into the tree
	if bodytype.MarkupOf(r.mediaType) == charset.XHTML {
		source = xhtml.AsHTML(source)
	}
	root, err := room.Shown(ctx, source)
	if err != nil {
		return r.unconverted(ctx, err)
	}
	if err := c.parsedPage(ctx, r, root, got); err != nil {
		return r.unconverted(ctx, err)
	}
	return nil
}

// parsedPage writes the page of a tree, or its main part, and the list of its links if that is asked for.
func (c converter) parsedPage(ctx context.Context, r *reply, root *html.Node, got *content) (err error) {
	o := markdown.Options{BaseURL: r.url, Links: c.addresses()}
	if got.text, err = markdown.Render(ctx, root, o); err != nil {
		return err
	}
	got.title = markdown.Title(root)
	got.thin, got.refs = thinFacts(root, r.status, got), hrefs(root)
	sent, all, err := c.sentOn(ctx, root, r, got.text)
	if err != nil {
		return err
	}
	if sent != "" && all { // what its scripts do is known
		got.thin = slices.DeleteFunc(got.thin, func(t Thin) bool { return t.Kind == "js_shell" })
	}
	list := ""
	if c.list {
		if list, err = got.listLinks(ctx, root, r.url); err != nil {
			return err
		}
	}
	if c.part == PartMain && sent == "" {
		if err := c.mainPart(ctx, root, o, got, list); err != nil {
			return err
		}
	} else {
		got.declare(maincontent.DeclaredBy(root), r.url)
	}
	if sent != "" {
		got.text = sent
	}
	got.text = withList(got.text, list)
	return nil
}

// noticeChars is how long a page may be that only says something of another one.
const noticeChars = 300

// sentOn is the text of a page that is no more than a notice and sends browsers on to another one, with its address, which is not
// followed; all says that it sends those on that run scripts, too. Empty for other pages.
func (c converter) sentOn(ctx context.Context, root *html.Node, r *reply, text string) (sent string, all bool, err error) {
	if len(text) > noticeChars*utf8.UTFMax || utf8.RuneCountInString(text) > noticeChars {
		return "", false, nil
	}
	to, all := linklist.SentOn(root, r.url, r.refresh)
	if to == "" {
		return "", false, nil
	}
	if c.addresses() != scribe.LinksNone {
		anchors, err := linklist.Anchors(ctx, root, r.url)
		if err != nil || slices.ContainsFunc(anchors, func(a linklist.Anchor) bool { return a.URL == to }) {
			return text, all, err
		}
	}
	list, err := linklist.List(ctx, []linklist.Anchor{{URL: to}})
	if err != nil || isBlank(text) {
		return list, all, err
	}
	return strings.TrimRight(text, "\n") + "\n\n" + list, all, nil
}

func (c converter) addresses() scribe.Links {
	switch c.links {
	case LinksNone:
		return scribe.LinksNone
	case LinksReferences:
		return scribe.LinksReferences
	}
	return scribe.LinksInline
}

// mainPart replaces the text of a whole page by that of its main content, unless that looks too small to be the page. The
// whole page would end with the list of links as well.
func (c converter) mainPart(ctx context.Context, root *html.Node, o markdown.Options, got *content, list string) (err error) {
	selection := maincontent.Find(root)
	got.declare(selection.Declared, o.BaseURL)
	if selection.Article != "" && !slices.ContainsFunc(got.thin, func(t Thin) bool { return t.Kind != "js_shell" }) {
		got.text, err = withUndisclosed(ctx, got.text, selection.Article)
		got.thin = nil
		got.notes = append(got.notes, Note{Kind: "declared", Fact: "the text is the article's from the page's data for machines; the page shows it only with its scripts"})
		return err
	}
	o.Drop = selection.Drop
	full := utf8.RuneCountInString(got.text)
	if c.links == LinksItems || c.links == "" && full > noticeChars { // of "click here" the address is what counts
		o.Unlink = selection.InText
	}
	text, err := markdown.Render(ctx, root, o)
	if err != nil {
		return err
	}
	chars := utf8.RuneCountInString(text)
	listChars := utf8.RuneCountInString(withList(got.text, list)) - full
	if selection.Thin() || isBlank(text) && !isBlank(got.text) {
		if len(got.thin) == 0 { // a page that is known to be thin has no main content to speak of
			found := fmt.Sprintf("the main content found has %d of %d characters", chars, full)
			if selection.Letters == 0 { // then nothing is left out either, and chars says nothing
				found = fmt.Sprintf("no main content was found in %d characters", full)
			}
			got.thin = append(got.thin, Thin{Kind: "thin_extract", Fact: found + "; the whole page is shown"})
		}
		return nil
	}
	if selection.Undisclosed != "" {
		if text, err = withUndisclosed(ctx, text, selection.Undisclosed); err != nil {
			return err
		}
		got.notes = append(got.notes, Note{Kind: "declared", Fact: "the last part is the product's description from the page's data for machines; the page shows it only with its scripts, if at all"})
		full = max(full, utf8.RuneCountInString(text))
	}
	left := chars < full
	full += listChars
	got.text, got.kind, got.fullChars = text, PartMain, full
	if left {
		got.notes = append(got.notes, Note{Kind: "main", Fact: fmt.Sprintf("main content of a page of %d chars", full),
			Data: map[string]any{"full_chars": full}})
	}
	return nil
}

// withUndisclosed adds a description that the page declares but does not show. What it says is text, whatever it looks like:
// of HTML the elements count, and nothing of it is loaded.
func withUndisclosed(ctx context.Context, text, description string) (string, error) {
	const most = 64 << 10 // bytes
	if !strings.Contains(description, "<") {
		description = strings.NewReplacer("\n\n", "<p>", "\n", "<br>").Replace(description)
	}
	tree, err := htmltree.Parse(ctx, strings.ToValidUTF8(description[:min(len(description), most)], ""))
	if err != nil {
		return "", err
	}
	more, err := markdown.Render(ctx, tree, markdown.Options{})
	if err != nil || isBlank(more) {
		return text, err
	}
	return strings.TrimLeft(strings.TrimRight(text, "\n")+"\n\n"+more, "\n"), nil
}

// declare keeps what a page says of itself.
func (c *content) declare(d declared.Facts, url string) {
	c.declared = &Declared{Title: d.Title, Byline: d.Byline, Date: d.Date, Canonical: linklist.Address(url, d.Canonical), Language: d.Language}
}

// listLinks keeps the page's links and gives their list as text, empty for none.
func (c *content) listLinks(ctx context.Context, root *html.Node, url string) (string, error) {
	anchors, err := linklist.Anchors(ctx, root, url)
	if err != nil || len(anchors) == 0 {
		return "", err
	}
	for _, a := range anchors {
		c.links = append(c.links, Link{Text: a.Text, URL: a.URL})
	}
	return linklist.List(ctx, anchors)
}

// beforeList parts a page's text from the list of its links.
const beforeList = "\n\n---\n\n"

func withList(text, list string) string {
	if text == "" || list == "" {
		return text + list
	}
	return text + beforeList + list
}

func thinFacts(root *html.Node, status int, got *content) []Thin {
	return asThin(thin.Facts(root, thin.Page{Status: known(status), Title: got.title, Markdown: got.text}))
}

// textFacts are those of a body without a tree. Who asks for a body as it was sent reads it themselves: of a raw one
// the status alone speaks.
func textFacts(k bodytype.Kind, raw bool, r *reply, got *content) []Thin {
	p := thin.Page{Status: known(r.status), Title: got.title, Plain: k == bodytype.Text}
	switch {
	case raw:
		return asThin(thin.Facts(nil, p))
	case k == bodytype.JSON:
		return asThin(thin.Data(got.text, p))
	case k == bodytype.HTML, k == bodytype.Markdown, r.mediaType == "text/plain":
		return asThin(thin.Text(got.text, p))
	}
	return asThin(thin.Facts(nil, p))
}

// known is a response's status; bytes that came without one are read like those of a good one.
func known(status int) int {
	if status == 0 {
		return http.StatusOK
	}
	return status
}

func asThin(facts []thin.Fact) []Thin {
	var out []Thin
	for _, f := range facts {
		out = append(out, Thin{Kind: f.Kind, Fact: f.Text})
	}
	return out
}

// document reads a PDF, Office, OpenDocument or Numbers file.
func (c converter) document(ctx context.Context, r *reply) (*content, error) {
	d, err := c.documents.Convert(ctx, r.mediaType, r.body)
	if err == nil && isBlank(d.Markdown) && len(d.Thin) == 0 {
		err = errors.New("the converter gave no text")
	}
	if err != nil {
		return nil, r.unconverted(ctx, err)
	}
	got := &content{via: ViaConverted, mediaType: r.mediaType, title: mdtext.ClipTitle(d.Title), text: mdtext.Tidy(d.Markdown), thin: d.Thin, notes: d.Notes}
	got.leaveOutInvisible()
	return got, ctx.Err()
}

// unconverted is a failed conversion, unless it failed because it was told to stop.
func (r *reply) unconverted(ctx context.Context, err error) error {
	if stopped := ctx.Err(); stopped != nil {
		return stopped
	}
	return r.failure(CodeConversionFailed, "the body could not be converted", err)
}

// wayOn is what to do about a thin page. It names no tool: which ones there are is the host's to know.
func wayOn(kind string) string {
	switch kind {
	case "js_shell":
		return "a browser would run the scripts, or another source has the text"
	case "consent_wall", "bot_challenge":
		return "a person's browser may get past it, or use another source"
	case "login_wall", "paywall", "payment_required":
		return "it takes an account; use another source"
	case "soft_404":
		return "check the address, or search for where the page went"
	case "no_text_layer":
		return "only pictures of text are there; look for another form of it"
	}
	return "look for another source"
}

// leaveOutInvisible drops what no reader sees and says how much that was.
func (c *content) leaveOutInvisible() {
	shown, dropped := untrusted.DropInvisible(c.text)
	if dropped == 0 {
		return
	}
	c.text = shown
	c.notes = append(c.notes, droppedNote(dropped))
}

func isBlank(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return !unicode.IsSpace(r) && r != '\ufeff' }) < 0
}
