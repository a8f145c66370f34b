package relay

import (
	"errors"
	"io"
	"strings"
	"testing"
)

// deaf is a server that reads no more: what is written to it is refused whole, or after a part.
type deaf struct {
	Conn
	takes int // bytes of each line
}

func (d deaf) Write(p []byte) (int, error) {
	return min(d.takes, len(p)), errors.New("broken pipe")
}

// TestCallThatNobodyHadIsCarriedOn: a server that ends in order reads no more, so what is asked then is the next one's to
// answer; a call of which somebody had a part is not carried twice.
func TestCallThatNobodyHadIsCarriedOn(t *testing.T) {
	for takes, carried := range map[int]bool{0: true, 1: false} {
		r := &Relay{out: io.Discard, pending: make(map[string]asked), conn: deaf{takes: takes}}
		r.ask([]byte(request(7, "tools/call")))
		r.ask([]byte(request(8, "tools/list")))
		r.abandon()
		next := r.introduction()
		has := func(id string) bool {
			for _, l := range next {
				if strings.Contains(string(l), id) {
					return true
				}
			}
			return false
		}
		if has(`"id":7`) != carried || !has(`"id":8`) {
			t.Errorf("%d bytes were taken: the next server hears %s", takes, next)
		}
		// Now it has had it: where it ends too, the call is not carried again.
		r.abandon()
		for _, l := range r.introduction() {
			if strings.Contains(string(l), `"id":7`) {
				t.Errorf("%d bytes were taken: the call is carried twice", takes)
			}
		}
	}
}
