// This file carries rows from one database to another of the same schema.
package backup

import (
	"errors"
	"fmt"
	"strings"

	"github.com/wayleave/wayleave/internal/store/sqldb"
)

const (
	// parametersAtMost bounds a statement that inserts several rows.
	parametersAtMost = 2000
	// bytesAtMost bounds what such a statement carries: a row may hold a whole page.
	bytesAtMost = 4 << 20
)

// table is one table and its columns in their order.
type table struct {
	name    string
	columns []column
}

type column struct {
	name  string
	bytes bool
}

// tables lists the tables of a SQLite database in the order in which they were made: whatever refers to another comes
// after it. The list of migrations is not among them; it belongs to whoever migrates.
func tables(tx *sqldb.Tx) (all []table, err error) {
	err = tx.All(`SELECT m.name, c.name, CASE c.type WHEN 'BLOB' THEN 1 ELSE 0 END FROM sqlite_master m JOIN pragma_table_info(m.name) c
 WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite\_%' ESCAPE '\' AND m.name <> 'schema_versions' ORDER BY m.rowid, c.cid`, nil,
		func(scan func(...any) error) error {
			var name string
			var c column
			if err := scan(&name, &c.name, &c.bytes); err != nil {
				return err
			}
			if len(all) == 0 || all[len(all)-1].name != name {
				all = append(all, table{name: name})
			}
			last := &all[len(all)-1]
			last.columns = append(last.columns, c)
			return nil
		})
	if err == nil && len(all) == 0 {
		err = errors.New("it has no tables")
	}
	return all, err
}

func (t table) list() string {
	var names []string
	for _, c := range t.columns {
		names = append(names, c.name)
	}
	return strings.Join(names, ", ")
}

// rows copies all tables. lite is the one of the two that is SQLite, and knows the tables. What a migration put into the
// target goes first.
func rows(from, to, lite *sqldb.Tx) error {
	all, err := tables(lite)
	if err != nil {
		return err
	}
	for i := len(all) - 1; i >= 0; i-- {
		if _, err := to.Exec("DELETE FROM " + all[i].name); err != nil {
			return fmt.Errorf("%s: %w", all[i].name, err)
		}
	}
	for _, t := range all {
		if err := t.copy(from, to); err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
	}
	return nil
}

func (t table) copy(from, to *sqldb.Tx) error {
	var values []any
	size := 0
	flush := func() error {
		if len(values) == 0 {
			return nil
		}
		_, err := to.Exec(t.insert(len(values)/len(t.columns)), values...)
		values, size = values[:0], 0
		return err
	}
	err := from.All("SELECT "+t.list()+" FROM "+t.name, nil, func(scan func(...any) error) error {
		row, n, err := t.read(scan)
		if err != nil {
			return err
		}
		values, size = append(values, row...), size+n
		if len(values)+len(t.columns) > parametersAtMost || size > bytesAtMost {
			return flush()
		}
		return nil
	})
	if err != nil {
		return err
	}
	return flush()
}

// read gives one row and about how many bytes it has. Bytes are told apart from NULL when they are none.
func (t table) read(scan func(...any) error) (row []any, size int, err error) {
	row = make([]any, len(t.columns))
	blobs := make([][]byte, len(t.columns))
	into := make([]any, len(t.columns))
	for i, c := range t.columns {
		into[i] = &row[i]
		if c.bytes {
			into[i] = &blobs[i]
		}
	}
	if err := scan(into...); err != nil {
		return nil, 0, err
	}
	for i, c := range t.columns {
		if c.bytes {
			row[i] = blobs[i]
			size += len(blobs[i])
		} else if s, ok := row[i].(string); ok {
			size += len(s)
		}
	}
	return row, size, nil
}

func (t table) insert(rows int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "INSERT INTO %s (%s) VALUES ", t.name, t.list())
	n := 0
	for r := range rows {
		if r > 0 {
			b.WriteString(", ")
		}
		for c := range t.columns {
			n++
			b.WriteString(map[bool]string{true: "(", false: ", "}[c == 0])
			fmt.Fprintf(&b, "$%d", n)
		}
		b.WriteByte(')')
	}
	return b.String()
}
