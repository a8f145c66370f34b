// Package webfetch reads one URL as text that a model, or a program, can use: Markdown for HTML and documents, indented
// JSON, other text as served. It is a library without database or server; the service reads through it too.
//
// The one rule: what a page says stands inside the wrapper that [Render] writes, and nothing of it outside but its
// address; what may be asked for is decided by the host alone, never by the page or the model.
//
// # Reading a page
//
// [Fetch] reads one URL whole. A program that reads more than one makes a fetcher with [Direct], so that the politeness
// owed to each host spans its calls:
//
//	direct, err := webfetch.Direct(webfetch.Options{})
//	page, err := direct.Fetch(ctx, webfetch.Request{URL: "https://example.com/"})
//
// A [Page] has the whole text, how it came about (Via), where it came from (FinalURL, Redirects), and what makes it
// hardly the page that was asked for (Thin): a shell that scripts would fill, a consent wall, a login. A page of an error
// status with readable text is a page. [Convert] does the same with bytes that are there already.
//
// # Windows
//
// A model reads a long page in windows. [NewWindow] cuts one by code points, [NewByteWindow] by bytes; NextOffset is
// where the next begins, nil at the end, and the windows from 0 on are the page, each character once. [Render] writes
// the text of a window:
//
//	web_fetch: https://example.com/ · 200 · text/html → markdown · chars 0–11840 of 31400 · continue with offset=11840
//	note: matches · "refund" also at 14210, 20877
//	<untrusted_web_content>
//	…
//	</untrusted_web_content>
//
// The header names status, type and position; notes are ours. Inside the wrapper every spelling of its tags is escaped.
// Counts, offsets and Window.Content are of the text before that, and rendering a stored window gives the same text for
// ever.
//
// # The tool
//
// [NewTool] makes the tool web_fetch for an agent: arguments as JSON in, text and structured content out. Its text is at
// most [MaxTextBytes] long. It keeps nothing between calls, so reading on fetches again; a [Source] of your own may cache.
// Adapters under adapters/ offer it on a framework. A host that keeps pages itself uses what the tool is made of:
// [Definition], [ParseArguments], [Answer] and [ErrorResult], and asks for a kept page again with [Fetcher.Refetch].
//
// # What may be asked for
//
// Options.Policy decides, for the first URL and for each redirect; its zero value is the public web, see package weburl.
// Options.Robots obeys robots.txt where the host wants that; nothing does by itself.
// Names are looked up once, and only an address that was judged is connected to. Requests are GET, without cookies,
// credentials or headers of anyone's. Bytes, time and redirects are bounded, and every bound holds for a hostile site.
//
// # Failures
//
// A failed fetch is an [*Error] with one of eleven codes; errors.As finds it, also in the Failure of a tool's result.
// Message is for the host. What a model is told is made from the other fields and says what to do next. A cancelled
// context gives its own error as it is. An option that is out of its range is an [*OptionError] when fetcher or tool is
// made, never later.
//
// # What it is not
//
// It is no HTTP client (one GET, nothing to set), no browser (no script runs), and no summariser (the text is the page's
// own). FormatRaw gives text as decoded, without byte-order mark; Page.Bytes and Page.ContentType tell what was sent.
//
// Names and behaviour of this package may still change; the tool's name, its arguments, the record's field names and the
// codes will not.
package webfetch

import "context"

// Fetch reads one URL whole with the built-in fetcher. It makes a fetcher for the call: a program that fetches more
// than once makes one with Direct, so that its politeness spans the calls.
func Fetch(ctx context.Context, req Request, opts Options) (*Page, error) {
	f, err := Direct(opts)
	if err != nil {
		return nil, err
	}
	return f.Fetch(ctx, req)
}
