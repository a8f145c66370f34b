// This file lists every column that is not plain text, and how its rows are gone through.
package keystore

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/wayleave/wayleave/internal/seal"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// Kind is what the bytes of a column are.
type Kind string

const (
	// Sealed is under the keyset, and so goes with each rotation.
	Sealed Kind = "sealed"
	// Wrapped is under the master key.
	Wrapped Kind = "wrapped"
	// Digest is keyed and tells nothing.
	Digest Kind = "digest"
)

// Column is one column of bytes.
type Column struct {
	Table, Name string
	Kind        Kind
	// Key are the columns of the table's primary key in its order; a sealed value's place is made of them.
	Key []string
}

// Columns lists all columns of bytes that the schema has. A test compares the two: a column that is missing here would
// not be re-sealed, and its values would be lost with the old key.
func Columns() []Column {
	id := []string{"id"}
	return []Column{
		{"settings", "digest_key", Sealed, id},
		{"settings", "audit_key", Sealed, id},
		{"keysets", "wrapped", Wrapped, id},
		{"mcp_sessions", "initialize", Sealed, id},
		{"runs", "title_sealed", Sealed, id},
		{"tool_calls", "digest", Digest, id},
		{"tool_calls", "args", Sealed, id},
		{"tool_calls", "result", Sealed, id},
		{"tool_calls", "late", Sealed, id},
		{"evidence", "url", Sealed, []string{"call_id", "n"}},
		{"evidence", "title", Sealed, []string{"call_id", "n"}},
		{"kept_pages", "body", Sealed, id},
		{"reconciliations", "note", Sealed, []string{"call_id"}},
		{"approvals", "digest", Digest, id},
		{"approvals", "question", Sealed, id},
	}
}

func sealedColumns() []Column {
	return slices.DeleteFunc(Columns(), func(c Column) bool { return c.Kind != Sealed })
}

// place is where a value of the column stands.
func (c Column) place(key []any) seal.Place {
	var parts []string
	for _, k := range key {
		parts = append(parts, fmt.Sprint(k))
	}
	return seal.Place{Table: c.Table, Column: c.Name, Row: strings.Join(parts, "/")}
}

// Names of tables and columns cannot be parameters. Those below come from the list above and from nowhere else.

// head is the beginning of a sealed value, which names its key.
func (c Column) head() string { return "substr(" + c.Name + ", 1, " + strconv.Itoa(headBytes) + ")" }

// headBytes is how many bytes of a sealed value name its key; everyHead is what no head is equal to.
const headBytes = 5

func everyHead() []byte { return make([]byte, headBytes+1) }

// headOf is the beginning of what a key sealed.
func headOf(key string) ([]byte, error) {
	b, err := hex.DecodeString(key)
	if err != nil || len(b) != headBytes-1 {
		return nil, fmt.Errorf("%q is not the name of a key", key)
	}
	return append([]byte{1}, b...), nil
}

// value is a sealed value and its row.
type value struct {
	key []any
	box []byte
}

var errEnough = errors.New("the page is full")

// scanRows is how many rows one statement looks at: a page of a column that is mostly empty must not take the time of a
// whole table.
const scanRows = 4096

// page looks at rows in the order of their keys, from after a key on (nil: from the first), and gives the values whose
// head is another than a given one: at most limit, and no further one once they are together so many bytes. last is the
// key of the last row that it looked at, nil when there are no more rows.
func (c Column) page(tx *sqldb.Tx, other []byte, after []any, limit, bytes int) (page []value, last []any, err error) {
	keys := strings.Join(c.Key, ", ")
	query := "SELECT " + keys + ", CASE WHEN " + c.head() + " <> $1 THEN " + c.Name + " END FROM " + c.Table
	args := []any{other}
	if after != nil {
		var marks []string
		for _, k := range after {
			args = append(args, k)
			marks = append(marks, "$"+strconv.Itoa(len(args)))
		}
		query += " WHERE (" + keys + ") > (" + strings.Join(marks, ", ") + ")"
	}
	args = append(args, scanRows)
	query += " ORDER BY " + keys + " LIMIT $" + strconv.Itoa(len(args))
	seen := 0
	err = tx.All(query, args, func(scan func(...any) error) error {
		v := value{key: make([]any, len(c.Key))}
		into := []any{}
		for i := range v.key {
			into = append(into, &v.key[i])
		}
		if err := scan(append(into, &v.box)...); err != nil {
			return err
		}
		seen++
		last = v.key
		if v.box == nil {
			return nil
		}
		page = append(page, v)
		if bytes -= len(v.box); bytes <= 0 || len(page) == limit {
			return errEnough
		}
		return nil
	})
	switch {
	case errors.Is(err, errEnough):
		return page, last, nil
	case err != nil:
		return nil, nil, fmt.Errorf("read %s.%s: %w", c.Table, c.Name, err)
	case seen < scanRows:
		last = nil
	}
	return page, last, nil
}

// replace writes a value anew if it is still the same, and says whether it was.
func (c Column) replace(tx *sqldb.Tx, v value, box []byte) (bool, error) {
	args := []any{box, v.box}
	where := c.Name + " = $2"
	for i, k := range c.Key {
		args = append(args, v.key[i])
		where += " AND " + k + " = $" + strconv.Itoa(len(args))
	}
	n, err := tx.Exec("UPDATE "+c.Table+" SET "+c.Name+" = $1 WHERE "+where, args...)
	if err != nil {
		return false, fmt.Errorf("re-seal %s.%s: %w", c.Table, c.Name, err)
	}
	return n == 1, nil
}

// heads counts the values of the column by the key that they name; the empty name is for bytes that nobody sealed. It
// looks at the whole table, and so runs on a connection without bounds of time.
func (c Column) heads(ctx context.Context, pool *sql.DB) (count map[string]int64, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("count %s.%s: %w", c.Table, c.Name, err)
		}
	}()
	rows, err := pool.QueryContext(ctx, "SELECT "+c.head()+", count(*) FROM "+c.Table+" WHERE "+c.Name+" IS NOT NULL GROUP BY 1")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	count = make(map[string]int64)
	for rows.Next() {
		var head []byte
		var n int64
		if err := rows.Scan(&head, &n); err != nil {
			return nil, err
		}
		count[seal.KeyOf(head)] += n
	}
	return count, rows.Err()
}

// any says whether the column has a value at all.
func (c Column) any(tx *sqldb.Tx) (bool, error) {
	var one int64
	return tx.One("SELECT 1 FROM "+c.Table+" WHERE "+c.Name+" IS NOT NULL LIMIT 1", nil, &one)
}
