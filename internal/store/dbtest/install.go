// This file fills a database with an install that was in the midst of its work: for tests of migrations, backups, and of
// whatever must leave rows as they are.
package dbtest

import (
	"bytes"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// install is rows of every table of schema 1, in the order of their references. It is never changed once a program with
// that schema was released: later programs are held to it. Times are around Start.
//
//go:embed install-00001.json
var install []byte

// Fill puts an install of schema 1 into a database of that schema that has no rows yet: two agents, two people, four
// runs, calls in every state, questions open and answered. Its sealed values are no real ones. It keeps all invariants.
func Fill(t testing.TB, db *sqldb.DB) {
	t.Helper()
	var rows []struct {
		Table string
		Row   map[string]any
	}
	d := json.NewDecoder(bytes.NewReader(install))
	d.UseNumber()
	if err := d.Decode(&rows); err != nil {
		t.Fatal(err)
	}
	if err := db.Write(t.Context(), sqldb.Settings, func(tx *sqldb.Tx) error {
		if _, err := tx.Exec("DELETE FROM settings"); err != nil { // the migration's own
			return err
		}
		for _, r := range rows {
			columns := slices.Sorted(maps.Keys(r.Row))
			var marks []string
			var values []any
			for i, c := range columns {
				v, err := decoded(r.Row[c])
				if err != nil {
					return fmt.Errorf("%s.%s: %w", r.Table, c, err)
				}
				marks, values = append(marks, fmt.Sprintf("$%d", i+1)), append(values, v)
			}
			if _, err := tx.Exec("INSERT INTO "+r.Table+" ("+strings.Join(columns, ", ")+") VALUES ("+strings.Join(marks, ", ")+")", values...); err != nil {
				return fmt.Errorf("%s: %w", r.Table, err)
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// decoded reads a value: bytes are {"hex": …}.
func decoded(v any) (any, error) {
	switch v := v.(type) {
	case json.Number:
		return v.Int64()
	case map[string]any:
		text, _ := v["hex"].(string)
		return hex.DecodeString(text)
	}
	return v, nil
}
