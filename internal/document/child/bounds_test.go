package child

import (
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/document"
)

// TestBoundsOfADocument: what one may cost where nobody says otherwise, as docs/operating.md says.
func TestBoundsOfADocument(t *testing.T) {
	o, err := Options{Program: "program", Args: []string{"argument"}}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	if o.CPU != 2*time.Second || o.Memory != 100_000_000 || o.Wall != 20*time.Second || o.Size != 2 || o.Idle != 5*time.Minute {
		t.Errorf("%v of CPU, %d bytes, %v, %d at once, %v idle", o.CPU, o.Memory, o.Wall, o.Size, o.Idle)
	}
	if want := (document.Limits{Unpacked: 64 << 20, Text: 4 << 20, Pages: 2000, Rows: 10_000, Columns: 256, Cells: 500_000, Depth: 256}); o.Limits != want {
		t.Errorf("%+v, not %+v", o.Limits, want)
	}
}
