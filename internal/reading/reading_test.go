package reading

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wayleave/wayleave/agenttool"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/webfetch"
)

// site is a source whose pages a test sets; it counts what is asked of it.
type site struct {
	mu     sync.Mutex
	pages  map[string]string // URL without fragment → text
	moved  map[string]string // URL → final URL
	asked  []string
	fail   error
	refuse error // what Check says
	block  chan struct{}
}

func (s *site) Fetch(ctx context.Context, req webfetch.Request) (*webfetch.Page, error) {
	if s.block != nil {
		select {
		case <-s.block:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, req.URL)
	if s.fail != nil {
		return nil, s.fail
	}
	url := withoutFragment(req.URL)
	final := url
	if to := s.moved[url]; to != "" {
		final = to
	}
	text := s.pages[url]
	n := len([]rune(text))
	return &webfetch.Page{RequestedURL: req.URL, FinalURL: final, Status: 200, ContentType: "text/plain", Via: webfetch.ViaText, Title: "A title", Content: text,
		ContentKind: webfetch.PartFull, TotalChars: n, FullChars: n, RetrievedAt: time.Unix(0, 0).UTC(), Bytes: int64(len(text)), Redirects: []string{}, Provider: "direct"}, nil
}

func (s *site) Check(webfetch.Request) error { return s.refuse }

func (s *site) set(url, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pages[url] = text
}

func (s *site) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.asked)
}

// shelf keeps pages in memory.
type shelf struct {
	mu    sync.Mutex
	pages map[string]*Kept
	fail  error
}

func (s *shelf) Take(_ context.Context, run, key string) (*Kept, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pages[run+key], s.fail
}

// Tagged gives every page: whether its site can be asked is the source's to say.
func (s *shelf) Tagged(ctx context.Context, run, key string) (*Kept, error) {
	return s.Take(ctx, run, key)
}

func (s *shelf) Put(_ context.Context, at Place, keys []string, p *webfetch.Page) (Put, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail != nil {
		return Put{}, s.fail
	}
	if s.pages == nil {
		s.pages = make(map[string]*Kept)
	}
	put := Put{Snapshot: 1}
	if old := s.pages[at.Run+keys[0]]; old != nil {
		put = Put{Snapshot: old.Snapshot, Known: true, Changed: Sum(old.Page) != Sum(p)}
		if put.Changed {
			put.Snapshot++
		}
	}
	for _, k := range keys {
		s.pages[at.Run+k] = &Kept{Page: p, Snapshot: put.Snapshot}
	}
	return put, nil
}

const page = "https://site.example/a"

// long is a page of several windows of 12,000 bytes, with a mark in the second and fourth.
var long = strings.Repeat("x", 13_000) + " Refund policy " + strings.Repeat("y", 24_000) + " refund  Policy " + strings.Repeat("z", 9_000)

// world is a reader with a site before it and a ledger's permits.
type world struct {
	*site
	shelf   *shelf
	reader  *Reader
	permits func(context.Context) (ledger.Permit, error)
}

func newWorld(t testing.TB, o Options) *world {
	t.Helper()
	w := &world{site: &site{pages: map[string]string{page: long}}, shelf: new(shelf), permits: permits(t)}
	o.Sources = func(string) (webfetch.Source, error) { return w.site, nil }
	o.Shelf, o.Digest = w.shelf, func(parts ...string) string { return strings.Join(parts, "|") }
	var err error
	if w.reader, err = New(o); err != nil {
		t.Fatal(err)
	}
	return w
}

var here = Place{Agent: "a", Run: "run_1", Call: "call_1"}

// call parses, looks and reads, as the pipeline does.
func (w *world) call(t testing.TB, at Place, arguments string) Answer {
	t.Helper()
	f, bad := w.reader.Parse(json.RawMessage(arguments))
	if bad != nil {
		return Answer{Result: *bad, Code: Code(*bad)}
	}
	refused, err := f.Look(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	if refused != nil {
		return Answer{Result: *refused, Code: Code(*refused)}
	}
	a, err := f.Read(t.Context(), at, w.permits)
	if err != nil {
		t.Fatalf("%s: %v", arguments, err)
	}
	return a
}

func args(url string, more string) string { return fmt.Sprintf(`{"url":%q%s}`, url, more) }

// structured reads one key of a result's structured part.
func structured(t testing.TB, a Answer, key string) any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal(a.Result.Structured, &m); err != nil {
		t.Fatalf("%s: %v", a.Result.Structured, err)
	}
	return m[key]
}

func hasNote(r agenttool.Result, kind string) bool {
	return strings.Contains(r.Text(), "\nnote: "+kind+" · ")
}

func TestW089ReadingOnSendsNothingAndCannotShift(t *testing.T) {
	w := newWorld(t, Options{})
	var text strings.Builder
	offset, windows := 0.0, 0
	for {
		a := w.call(t, here, args(page, fmt.Sprintf(`,"offset":%d`, int(offset))))
		if windows == 0 {
			w.set(page, "another page")
		} else if a.Sent || len(a.Evidence) != 1 || !strings.Contains(a.Why, "nothing was sent") {
			t.Fatalf("reading on sent: %v, evidence %v, why %q", a.Sent, a.Evidence, a.Why)
		}
		windows++
		_, body, _ := strings.Cut(a.Result.Text(), "<untrusted_web_content>\n")
		text.WriteString(strings.TrimSuffix(body, "\n</untrusted_web_content>"))
		next, more := structured(t, a, "next_offset").(float64)
		if !more {
			break
		}
		offset = next
	}
	if text.String() != long || windows < 4 || w.count() != 1 {
		t.Fatalf("%d characters in %d windows for %d requests", text.Len(), windows, w.count())
	}
}

func TestTM016AnotherRunIsNotAnsweredFromThisOnes(t *testing.T) {
	w := newWorld(t, Options{})
	w.call(t, here, args(page, ""))
	for i, c := range []struct {
		at   Place
		args string
	}{{Place{Agent: "a", Run: "run_2"}, args(page, `,"offset":100`)}, {here, args(page, `,"offset":100,"format":"raw"`)}} {
		before := w.count()
		if a := w.call(t, c.at, c.args); w.count() != before+1 || !a.Sent {
			t.Errorf("%d was answered from a kept page", i)
		}
	}
}

func TestRefreshThatDiffersIsSaid(t *testing.T) {
	w := newWorld(t, Options{})
	w.set(page, "one")
	first := w.call(t, here, args(page, ""))
	if structured(t, first, "snapshot") != 1.0 || hasNote(first.Result, "snapshot") {
		t.Fatalf("%s %s", first.Result.Text(), first.Result.Structured)
	}
	if same := w.call(t, here, args(page, "")); structured(t, same, "snapshot") != 1.0 || hasNote(same.Result, "snapshot") || w.count() != 2 {
		t.Fatalf("an unchanged page: %s", same.Result.Text())
	}
	w.set(page, "two")
	if changed := w.call(t, here, args(page, "")); structured(t, changed, "snapshot") != 2.0 || !strings.Contains(changed.Result.Text(), "snapshot 2") {
		t.Fatalf("a changed page: %s", changed.Result.Text())
	}
	if on := w.call(t, here, args(page, `,"offset":1`)); structured(t, on, "snapshot") != 2.0 || hasNote(on.Result, "snapshot") || hasNote(on.Result, "reread") {
		t.Fatalf("reading on: %s", on.Result.Text())
	}
}

func TestW195FindReadsTheKeptPage(t *testing.T) {
	w := newWorld(t, Options{})
	first := w.call(t, here, args(page, `,"find":"refund policy"`))
	if w.count() != 1 || !hasNote(first.Result, "matches") || hasNote(first.Result, "reread") || structured(t, first, "offset") == 0.0 {
		t.Fatalf("%d requests: %.300s", w.count(), first.Result.Text())
	}
	if again := w.call(t, here, args(page, `,"find":"zzz"`)); w.count() != 1 || again.Result.Failure != nil {
		t.Fatalf("%d requests", w.count())
	}
}

func TestReadingOnUnderTheAddressInTheHeader(t *testing.T) {
	const from, to = "https://site.example/old", "https://site.example/new"
	w := newWorld(t, Options{})
	w.site.pages, w.moved = map[string]string{from: long, to: "other"}, map[string]string{from: to}
	w.call(t, here, args(from+"#part", ""))
	a := w.call(t, here, args("HTTPS://site.example:443/new", `,"offset":12000`))
	if w.count() != 1 || hasNote(a.Result, "reread") {
		t.Fatalf("%d requests: %.200s", w.count(), a.Result.Text())
	}
}

func TestW196PageThatIsGoneIsReadAgainAndThatIsSaid(t *testing.T) {
	w := newWorld(t, Options{})
	w.call(t, here, args(page, ""))
	clear(w.shelf.pages)
	if a := w.call(t, here, args(page, `,"offset":5`)); !hasNote(a.Result, "reread") || w.count() != 2 || !a.Sent {
		t.Fatalf("%.300s", a.Result.Text())
	}
}

func TestRefusedAddressSendsNothing(t *testing.T) {
	w := newWorld(t, Options{})
	w.refuse = &webfetch.Error{Code: webfetch.CodeDisallowedURL, Status: 403, URL: page, Host: "site.example", Message: "no"}
	if a := w.call(t, here, args(page, "")); a.Code != "web_fetch_disallowed_url" || w.count() != 0 || a.Result.Failure == nil {
		t.Fatalf("%+v", a)
	}
}

func TestFailureIsAResultWithItsCode(t *testing.T) {
	w := newWorld(t, Options{})
	w.fail = &webfetch.Error{Code: webfetch.CodeUnavailable, Status: 502, Retryable: true, URL: page, Message: "no"}
	a := w.call(t, here, args(page, ""))
	if a.Code != "web_fetch_unavailable" || !a.Sent || a.Output != nil || len(a.Evidence) != 0 {
		t.Fatalf("%+v", a)
	}
}

func TestW197AnswerHasTheRecordAndTheEvidence(t *testing.T) {
	w := newWorld(t, Options{})
	a := w.call(t, here, args(page, `,"max_bytes":100`))
	var record struct {
		Content, Title, Via string
		RequestedURL        string `json:"requested_url"`
		NextOffset          int    `json:"next_offset"`
		Snapshot            int
	}
	if err := json.Unmarshal(a.Output, &record); err != nil || record.Content != long[:100] || record.Title != "A title" || record.RequestedURL != page || record.NextOffset != 100 || record.Snapshot != 1 {
		t.Fatalf("%s, %v", a.Output, err)
	}
	if e := a.Evidence[0]; e.Kind != "content" || e.Host != "site.example" || e.URL != page || len(e.SHA256) != 64 || e.Chars != int64(len(long)) || e.Title != "A title" {
		t.Fatalf("%+v", e)
	}
	f, _ := w.reader.Parse(json.RawMessage(args("https://Site.example:443/a#x", "")))
	if s := f.Source(); s.Host != "site.example" || s.URL != page {
		t.Fatalf("%+v", s)
	}
}

func TestCanonicalArgumentsHaveTheirDefaults(t *testing.T) {
	w := newWorld(t, Options{})
	short, _ := w.reader.Parse(json.RawMessage(args(page, "")))
	whole, _ := w.reader.Parse(json.RawMessage(args(page, `,"offset":0,"max_bytes":12000,"format":"auto"`)))
	other, _ := w.reader.Parse(json.RawMessage(args(page, `,"offset":1`)))
	if string(short.Canonical()) != string(whole.Canonical()) || string(short.Canonical()) == string(other.Canonical()) || !json.Valid(short.Canonical()) {
		t.Fatalf("%s\n%s", short.Canonical(), whole.Canonical())
	}
}

func TestNothingIsSentWithoutAPermit(t *testing.T) {
	w := newWorld(t, Options{})
	read := func(gate func(context.Context) (ledger.Permit, error)) error {
		f, _ := w.reader.Parse(json.RawMessage(args(page, "")))
		_, err := f.Read(t.Context(), here, gate)
		return err
	}
	refused := errors.New("no")
	if err := read(func(context.Context) (ledger.Permit, error) { return ledger.Permit{}, refused }); !errors.Is(err, refused) {
		t.Error(err)
	}
	if err := read(func(context.Context) (ledger.Permit, error) { return ledger.Permit{}, nil }); !errors.Is(err, ledger.ErrNotPermitted) {
		t.Error(err)
	}
	if w.count() != 0 {
		t.Errorf("%d requests", w.count())
	}
}

func TestW088CancellingIsNoResult(t *testing.T) {
	w := newWorld(t, Options{})
	w.block = make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	f, _ := w.reader.Parse(json.RawMessage(args(page, "")))
	gate := func(ctx context.Context) (ledger.Permit, error) {
		p, err := w.permits(ctx)
		cancel()
		return p, err
	}
	if a, err := f.Read(ctx, here, gate); !errors.Is(err, context.Canceled) || a.Result.Content != nil {
		t.Fatalf("%v, %v", a, err)
	}
}

func TestStoreThatFailsIsAFault(t *testing.T) {
	w := newWorld(t, Options{})
	w.shelf.fail = errors.New("no")
	f, _ := w.reader.Parse(json.RawMessage(args(page, `,"offset":5`)))
	if _, err := f.Look(t.Context(), here); !errors.Is(err, ledger.ErrStore) {
		t.Error("looking for a page did not fail")
	}
	f, _ = w.reader.Parse(json.RawMessage(args(page, "")))
	if a, err := f.Read(t.Context(), here, w.permits); !errors.Is(err, ledger.ErrStore) || a.Result.Content != nil {
		t.Error("a page that could not be kept was given out")
	}
}

// again is a site that can be asked whether a page still holds.
type again struct {
	*site
	kept  []*webfetch.Page // that it was asked about
	holds bool
}

func (a *again) Refetch(ctx context.Context, req webfetch.Request, kept *webfetch.Page) (*webfetch.Page, error) {
	a.kept = append(a.kept, kept)
	if a.holds && kept != nil {
		same := *kept
		same.Same, same.RetrievedAt = true, time.Unix(1, 0).UTC()
		return &same, nil
	}
	return a.Fetch(ctx, req)
}

func TestAKeptPageIsOfferedToWhoCanAskAboutIt(t *testing.T) {
	w := newWorld(t, Options{Abilities: webfetch.Abilities{MainContent: true}})
	a := &again{site: w.site}
	w.reader.o.Sources = func(string) (webfetch.Source, error) { return a, nil }
	first := w.call(t, here, args(page, ""))
	a.holds = true
	w.set(page, "another page")
	second := w.call(t, here, args(page, ""))
	if !second.Sent || second.Result.Text() != first.Result.Text() || structured(t, second, "snapshot") != 1.0 || structured(t, second, "retrieved_at") != "1970-01-01T00:00:01Z" || !strings.Contains(second.Why, "the one that is kept") {
		t.Errorf("%.200s %s, why %q", second.Result.Text(), second.Result.Structured, second.Why)
	}
	for i, other := range []string{args(page, `,"links":true`), args(page, `,"content":"full"`), args(page, `,"format":"raw"`), args(page+"?x", "")} {
		w.call(t, here, other)
		if kept := a.kept[2+i]; kept != nil {
			t.Errorf("%s: asked about %+v", other, kept)
		}
	}
	w.call(t, Place{Agent: "a", Run: "run_2", Call: "call_2"}, args(page, ""))
	if a.kept[0] != nil || a.kept[1] == nil || a.kept[len(a.kept)-1] != nil {
		t.Errorf("asked about %v", a.kept)
	}
}

func TestReaderNeedsItsParts(t *testing.T) {
	sources := func(string) (webfetch.Source, error) { return nil, nil }
	digest := func(...string) string { return "" }
	for i, o := range []Options{{}, {Sources: sources}, {Sources: sources, Shelf: new(shelf)}, {Shelf: new(shelf), Digest: digest}} {
		if _, err := New(o); err == nil {
			t.Errorf("%d: a reader was made", i)
		}
	}
}
