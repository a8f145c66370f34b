package reading

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wayleave/wayleave/agenttool"
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
	return &webfetch.Page{RequestedURL: req.URL, FinalURL: final, Status: 200, ContentType: "text/plain", Via: webfetch.ViaText, Content: text,
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

const page = "https://site.example/a"

// long is a page of several windows of 12,000 bytes, with a mark in the second and fourth.
var long = strings.Repeat("x", 13_000) + " Refund policy " + strings.Repeat("y", 24_000) + " refund  Policy " + strings.Repeat("z", 9_000)

func newReader(t testing.TB, s *site, o Options) *Reader {
	t.Helper()
	if s.pages == nil {
		s.pages = map[string]string{page: long}
	}
	o.Sources = func(string) (webfetch.Source, error) { return s, nil }
	r, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

var alice = Caller{Agent: "alice", TokenID: "t1", Connection: "c1"}

func call(t testing.TB, r *Reader, c Caller, arguments string) agenttool.Result {
	t.Helper()
	res, err := r.Call(t.Context(), c, json.RawMessage(arguments))
	if err != nil {
		t.Fatalf("%s: %v", arguments, err)
	}
	return res
}

func args(url string, more string) string { return fmt.Sprintf(`{"url":%q%s}`, url, more) }

// structured reads one key of a result's structured part.
func structured(t testing.TB, r agenttool.Result, key string) any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal(r.Structured, &m); err != nil {
		t.Fatalf("%s: %v", r.Structured, err)
	}
	return m[key]
}

func hasNote(r agenttool.Result, kind string) bool {
	return strings.Contains(r.Text(), "\nnote: "+kind+" · ")
}

func TestW089ReadingOnSendsNothingAndCannotShift(t *testing.T) {
	s := &site{}
	r := newReader(t, s, Options{})
	var text strings.Builder
	offset, windows := 0.0, 0
	for {
		res := call(t, r, alice, args(page, fmt.Sprintf(`,"offset":%d`, int(offset))))
		if windows == 0 {
			s.set(page, "another page")
		}
		windows++
		_, body, _ := strings.Cut(res.Text(), "<untrusted_web_content>\n")
		text.WriteString(strings.TrimSuffix(body, "\n</untrusted_web_content>"))
		next, more := structured(t, res, "next_offset").(float64)
		if !more {
			break
		}
		offset = next
	}
	if text.String() != long || windows < 4 || s.count() != 1 {
		t.Fatalf("%d characters in %d windows for %d requests", text.Len(), windows, s.count())
	}
	if other := call(t, r, Caller{Agent: "alice", TokenID: "t1", Connection: "c2"}, args(page, "")); s.count() != 2 || !strings.Contains(other.Text(), "another page") {
		t.Fatalf("a second connection: %d requests, %s", s.count(), other.Text())
	}
}

func TestTM016KeptPagesAreTheCallersAlone(t *testing.T) {
	s := &site{}
	r := newReader(t, s, Options{})
	call(t, r, alice, args(page, ""))
	for i, c := range []Caller{
		{"bob", "t1", "c1"}, {"alice", "t2", "c1"}, {"alice", "t1", "c2"}, {"", "t1", "c1"}, {"alice", "", "c1"},
	} {
		before := s.count()
		call(t, r, c, args(page, `,"offset":100`))
		if s.count() != before+1 {
			t.Errorf("caller %d was answered from alice's page", i)
		}
	}
	before := s.count()
	call(t, r, alice, args(page, `,"offset":100,"format":"raw"`))
	if s.count() != before+1 {
		t.Error("another format was answered from the page of this one")
	}
}

func TestRefreshThatDiffersIsSaid(t *testing.T) {
	s := &site{pages: map[string]string{page: "one"}}
	r := newReader(t, s, Options{})
	first := call(t, r, alice, args(page, ""))
	if structured(t, first, "snapshot") != 1.0 || hasNote(first, "snapshot") {
		t.Fatalf("%s %s", first.Text(), first.Structured)
	}
	same := call(t, r, alice, args(page, ""))
	if structured(t, same, "snapshot") != 1.0 || hasNote(same, "snapshot") || s.count() != 2 {
		t.Fatalf("an unchanged page: %s %s", same.Text(), same.Structured)
	}
	s.set(page, "two")
	changed := call(t, r, alice, args(page, ""))
	if structured(t, changed, "snapshot") != 2.0 || !hasNote(changed, "snapshot") || !strings.Contains(changed.Text(), "snapshot 2") {
		t.Fatalf("a changed page: %s %s", changed.Text(), changed.Structured)
	}
	on := call(t, r, alice, args(page, `,"offset":1`))
	if structured(t, on, "snapshot") != 2.0 || hasNote(on, "snapshot") || hasNote(on, "reread") {
		t.Fatalf("reading on: %s %s", on.Text(), on.Structured)
	}
}

func TestFailedRefreshKeepsThePage(t *testing.T) {
	s := &site{}
	r := newReader(t, s, Options{})
	call(t, r, alice, args(page, ""))
	s.fail = &webfetch.Error{Code: webfetch.CodeUnavailable, Status: 502, Retryable: true, URL: page, Message: "no"}
	if res := call(t, r, alice, args(page, "")); res.Failure == nil {
		t.Fatal("the refresh did not fail")
	}
	if res := call(t, r, alice, args(page, `,"offset":5`)); res.Failure != nil {
		t.Fatalf("the kept page is gone: %s", res.Text())
	}
}

func TestW195FindReadsTheKeptPage(t *testing.T) {
	s := &site{}
	r := newReader(t, s, Options{})
	first := call(t, r, alice, args(page, `,"find":"refund policy"`))
	if s.count() != 1 || !hasNote(first, "matches") || hasNote(first, "reread") {
		t.Fatalf("%d requests: %.300s", s.count(), first.Text())
	}
	if structured(t, first, "offset") == 0.0 {
		t.Fatalf("the match is in the second window: %s", first.Structured)
	}
	if again := call(t, r, alice, args(page, `,"find":"zzz"`)); s.count() != 1 || again.Failure != nil {
		t.Fatalf("%d requests", s.count())
	}
}

func TestReadingOnUnderTheAddressInTheHeader(t *testing.T) {
	const from, to = "https://site.example/old", "https://site.example/new"
	s := &site{pages: map[string]string{from: long, to: "other"}, moved: map[string]string{from: to}}
	r := newReader(t, s, Options{})
	call(t, r, alice, args(from+"#part", ""))
	res := call(t, r, alice, args(to, `,"offset":12000`))
	if s.count() != 1 || hasNote(res, "reread") || structured(t, res, "requested_url") != to {
		t.Fatalf("%d requests: %.200s %s", s.count(), res.Text(), res.Structured)
	}
	// Another page that leads to the same address does not push this one off the shelf.
	const also = "https://site.example/also"
	s.set(also, long)
	s.moved[also] = to
	call(t, r, alice, args(also, ""))
	if call(t, r, alice, args(from, `,"offset":12000`)); s.count() != 2 {
		t.Fatalf("%d requests", s.count())
	}
}

func TestPageThatIsGoneIsReadAgainAndThatIsSaid(t *testing.T) {
	t.Run("time", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := &site{}
			r := newReader(t, s, Options{})
			call(t, r, alice, args(page, ""))
			time.Sleep(29 * time.Minute)
			if res := call(t, r, alice, args(page, `,"offset":5`)); hasNote(res, "reread") || s.count() != 1 {
				t.Fatalf("before its time: %.200s", res.Text())
			}
			time.Sleep(30 * time.Minute)
			if res := call(t, r, alice, args(page, `,"offset":5`)); !hasNote(res, "reread") || s.count() != 2 {
				t.Fatalf("after its time: %.200s", res.Text())
			}
		})
	})
	t.Run("bytes", func(t *testing.T) {
		s := &site{pages: map[string]string{}}
		r := newReader(t, s, Options{Bounds: Bounds{CallerBytes: 10_000}})
		for i := range 3 {
			url := fmt.Sprintf("%s%d", page, i)
			s.set(url, strings.Repeat("x", 4000))
			call(t, r, alice, args(url, ""))
		}
		if res := call(t, r, alice, args(page+"2", `,"offset":5`)); hasNote(res, "reread") {
			t.Fatalf("the newest: %.200s", res.Text())
		}
		s.set(page+"0", "changed meanwhile")
		res := call(t, r, alice, args(page+"0", `,"offset":5`))
		if !hasNote(res, "reread") || !strings.Contains(res.Text(), "and differs; snapshot 2") {
			t.Fatalf("the oldest: %.300s", res.Text())
		}
	})
	t.Run("too large to keep", func(t *testing.T) {
		s := &site{}
		r := newReader(t, s, Options{Bounds: Bounds{CallerBytes: 1000}})
		call(t, r, alice, args(page, ""))
		res := call(t, r, alice, args(page, `,"offset":12000`))
		if !hasNote(res, "reread") || s.count() != 2 || strings.Contains(res.Text(), "differs") {
			t.Fatalf("%d requests: %.300s", s.count(), res.Text())
		}
	})
}

func TestKeptPagesAreBounded(t *testing.T) {
	s := &site{pages: map[string]string{}}
	r := newReader(t, s, Options{Bounds: Bounds{CallerBytes: 20_000, TotalBytes: 50_000, CallerPages: 5}})
	for c := range 10 {
		for p := range 20 {
			url := fmt.Sprintf("%s%d", page, p)
			s.set(url, strings.Repeat("x", 3000))
			call(t, r, Caller{Agent: "alice", TokenID: "t1", Connection: fmt.Sprint(c)}, args(url, ""))
		}
	}
	sh := r.shelf
	var total int64
	pages := make(map[Caller]int)
	for el := sh.order.Front(); el != nil; el = el.Next() {
		e := el.Value.(*entry)
		pages[e.keys[0].Caller]++
		if e.page != nil {
			total += e.size
		}
	}
	if total > 50_000 || total != sh.allSize || total == 0 {
		t.Errorf("%d bytes are kept, %d counted", total, sh.allSize)
	}
	for c, n := range pages {
		if n > 5 || n != sh.pages[c] || sh.bytes[c] > 20_000 {
			t.Errorf("%v has %d pages, %d counted, %d bytes", c, n, sh.pages[c], sh.bytes[c])
		}
	}
	sh.now = func() time.Time { return time.Now().Add(time.Hour) }
	sh.expire()
	if len(sh.byKey) != 0 || sh.order.Len() != 0 || len(sh.bytes) != 0 || len(sh.pages) != 0 || sh.allSize != 0 {
		t.Errorf("after their time: %d keys, %d pages, %d bytes", len(sh.byKey), sh.order.Len(), sh.allSize)
	}
}

func TestMinuteOfFetches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &site{}
		r := newReader(t, s, Options{PerMinute: 3})
		time.Sleep(37*time.Second + 500*time.Millisecond) // into a minute
		for range 3 {
			call(t, r, alice, args(page, ""))
		}
		res := call(t, r, Caller{Agent: "alice", TokenID: "t2", Connection: "c9"}, args(page, ""))
		const want = "rate_limit: nothing was sent; 3 of 3 read calls of this minute are used\nnext: wait · The next minute begins in 23 s."
		var refused *Refusal
		if res.Text() != want || !errors.As(res.Failure, &refused) || structured(t, res, "retry_after_seconds") != 23.0 || structured(t, res, "code") != "rate_limit" || structured(t, res, "retryable") != true {
			t.Fatalf("%s %s", res.Text(), res.Structured)
		}
		if res := call(t, r, alice, args(page, `,"offset":5`)); res.Failure != nil {
			t.Fatalf("a kept page costs nothing: %s", res.Text())
		}
		if res := call(t, r, alice, `{"url":"","offset":-1}`); structured(t, res, "code") != "invalid_web_fetch_input" {
			t.Fatalf("a bad argument at a used-up limit answers the argument: %s", res.Text())
		}
		if res := call(t, r, Caller{Agent: "bob"}, args(page, "")); res.Failure != nil {
			t.Fatalf("another agent's minute: %s", res.Text())
		}
		time.Sleep(23 * time.Second)
		if res := call(t, r, alice, args(page, "")); res.Failure != nil {
			t.Fatalf("the next minute: %s", res.Text())
		}
	})
}

func TestRefusedAddressCostsNothingAndComesBeforeTheLimit(t *testing.T) {
	s := &site{refuse: &webfetch.Error{Code: webfetch.CodeDisallowedURL, Status: 403, URL: page, Host: "site.example", Message: "no"}}
	r := newReader(t, s, Options{PerMinute: 1})
	for range 3 {
		if res := call(t, r, alice, args(page, "")); structured(t, res, "code") != "web_fetch_disallowed_url" {
			t.Fatal(res.Text())
		}
	}
	s.refuse = nil
	if res := call(t, r, alice, args(page, "")); res.Failure != nil || s.count() != 1 {
		t.Fatalf("%d requests: %s", s.count(), res.Text())
	}
}

func TestW088CancellingIsNoResult(t *testing.T) {
	s := &site{block: make(chan struct{})}
	r := newReader(t, s, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Call(ctx, alice, json.RawMessage(args(page, ""))); !errors.Is(err, context.Canceled) || s.count() != 0 {
		t.Fatalf("cancelled before: %v, %d requests", err, s.count())
	}
	ctx, cancel = context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, cancel)
	if res, err := r.Call(ctx, alice, json.RawMessage(args(page, ""))); !errors.Is(err, context.Canceled) || res.Content != nil {
		t.Fatalf("cancelled during: %v, %v", res, err)
	}
}

func TestManyCallersAtOnce(t *testing.T) {
	s := &site{}
	r := newReader(t, s, Options{PerMinute: 100_000})
	var group sync.WaitGroup
	for i := range 50 {
		group.Go(func() {
			c := Caller{Agent: fmt.Sprint("agent-", i%5), TokenID: fmt.Sprint(i), Connection: "c"}
			for range 10 {
				for _, more := range []string{"", `,"offset":12000`, `,"find":"refund policy"`} {
					if res, err := r.Call(t.Context(), c, json.RawMessage(args(page, more))); err != nil || res.Failure != nil {
						t.Errorf("%v, %v", res.Failure, err)
					}
				}
			}
		})
	}
	group.Wait()
	if s.count() != 500 {
		t.Errorf("%d requests, want one for each page that was begun", s.count())
	}
}

func TestSourceThatCannotBeMadeIsAFault(t *testing.T) {
	r, err := New(Options{Sources: func(string) (webfetch.Source, error) { return nil, errors.New("no") }})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Call(t.Context(), alice, json.RawMessage(args(page, ""))); err == nil {
		t.Fatal("it answered")
	}
	if _, err := New(Options{}); err == nil {
		t.Fatal("a reader without sources was made")
	}
}
