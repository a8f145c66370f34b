package child

import (
	"fmt"
	"sync"
	"testing"
	"time"
)

// TestIdleChildEnds: a child that nobody asks for goes, and the next document has one made.
func TestIdleChildEnds(t *testing.T) {
	p := pool(t, Options{Size: 2, Idle: time.Millisecond})
	for n := range 3 {
		text, err := p.Read(t.Context(), "any", []byte("words"))
		if err != nil || text.Markdown != "words" {
			t.Fatalf("document %d: %q, %v", n, text.Markdown, err)
		}
		p.mu.Lock()
		var rests []*process
		for c := range p.live {
			rests = append(rests, c)
		}
		p.mu.Unlock()
		for _, c := range rests {
			<-c.ended
		}
	}
}

// TestWarmChildEndsToo: one that was made for nobody is no other.
func TestWarmChildEndsToo(t *testing.T) {
	p := pool(t, Options{Size: 1, Idle: time.Hour})
	p.Warm()
	c := <-p.slots
	if c == nil || c.resting == nil {
		t.Fatalf("%+v", c)
	}
	idle := c.resting
	p.slots <- c
	idle.Reset(0)
	<-c.ended
	if text, err := p.Read(t.Context(), "any", []byte("words")); err != nil || text.Markdown != "words" {
		t.Errorf("%q, %v", text.Markdown, err)
	}
}

// TestUsedChildStays: what is read again and again is read by the same child.
func TestUsedChildStays(t *testing.T) {
	p := pool(t, Options{Size: 1, Idle: time.Hour})
	for range 5 {
		if _, err := p.Read(t.Context(), "any", nil); err != nil {
			t.Fatal(err)
		}
	}
	c := <-p.slots
	defer p.rest(c)
	if c == nil || c.gone() || c.read != 5 {
		t.Errorf("%+v", c)
	}
}

// TestNoDocumentIsLostToIdleness: children end between, before and after documents, and every document is read right.
func TestNoDocumentIsLostToIdleness(t *testing.T) {
	p := pool(t, Options{Size: 2, Idle: time.Nanosecond})
	var all sync.WaitGroup
	for n := range 4 {
		all.Go(func() {
			for m := range 25 {
				want := fmt.Sprint(n, m)
				if text, err := p.Read(t.Context(), "any", []byte(want)); err != nil || text.Markdown != want {
					t.Errorf("%s: %q, %v", want, text.Markdown, err)
				}
			}
		})
	}
	all.Wait()
	if len(p.slots) > 2 {
		t.Errorf("%d slots", len(p.slots))
	}
}
