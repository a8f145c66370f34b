package keystore

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/wayleave/wayleave/internal/store/dbtest"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// catalogue reads the columns of bytes and the primary keys out of a database, each table.column or table(key, key).
func catalogue(t *testing.T, db *sqldb.DB) (bytes []string, keys map[string][]string) {
	t.Helper()
	columns := map[sqldb.Dialect]string{
		sqldb.SQLite: `SELECT m.name, c.name, CAST(upper(c.type) = 'BLOB' AS INTEGER), c.pk FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%' ORDER BY m.name, c.pk`,
		sqldb.Postgres: `SELECT c.table_name::text, c.column_name::text, (c.data_type = 'bytea')::int::bigint,
coalesce((SELECT k.ordinal_position FROM information_schema.table_constraints p JOIN information_schema.key_column_usage k USING (constraint_schema, constraint_name)
WHERE p.constraint_type = 'PRIMARY KEY' AND k.table_schema = c.table_schema AND k.table_name = c.table_name AND k.column_name = c.column_name), 0)::bigint
FROM information_schema.columns c WHERE c.table_schema = 'public' ORDER BY 1, 4`,
	}[db.Dialect()]
	keys = make(map[string][]string)
	if err := db.Read(t.Context(), func(tx *sqldb.Tx) error {
		return tx.All(columns, nil, func(scan func(...any) error) error {
			var table, column string
			var isBytes, key int64
			if err := scan(&table, &column, &isBytes, &key); err != nil {
				return err
			}
			if isBytes == 1 {
				bytes = append(bytes, table+"."+column)
			}
			if key > 0 {
				keys[table] = append(keys[table], column)
			}
			return nil
		})
	}); err != nil {
		t.Fatal(err)
	}
	return bytes, keys
}

// TestEveryColumnOfBytesIsListed: a sealed column that the list does not have would keep its old key for ever, or lose
// its values with it.
func TestEveryColumnOfBytesIsListed(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB, _ *dbtest.Clock) {
		schema, keys := catalogue(t, db)
		var listed []string
		for _, c := range Columns() {
			listed = append(listed, c.Table+"."+c.Name)
			if !slices.Equal(c.Key, keys[c.Table]) {
				t.Errorf("%s is listed with the key %v; the schema has %v", c.Table, c.Key, keys[c.Table])
			}
		}
		slices.Sort(schema)
		slices.Sort(listed)
		if len(schema) < 10 || !slices.Equal(schema, listed) {
			t.Errorf("the schema has\n%s\nthe list has\n%s", strings.Join(schema, "\n"), strings.Join(listed, "\n"))
		}
	})
}

func TestPagesGoOverEveryRowOnce(t *testing.T) {
	each(t, func(t *testing.T, s *stage) {
		p := s.open(t, nil)
		fill(t, p.db, p.keys, "text", "control")
		for _, c := range sealedColumns() {
			want := count(t, p.db, "SELECT count(*) FROM "+c.Table+" WHERE "+c.Name+" IS NOT NULL")
			for _, size := range []struct{ limit, bytes int }{{1, 1 << 20}, {batchRows, batchBytes}, {1000, 1}, {1000, 1 << 20}} {
				seen := make(map[string]bool)
				var after []any
				for first := true; first || after != nil; first = false {
					var page []value
					if err := p.db.Read(t.Context(), func(tx *sqldb.Tx) (err error) {
						page, after, err = c.page(tx, everyHead(), after, size.limit, size.bytes)
						return err
					}); err != nil {
						t.Fatal(err)
					}
					if len(page) > size.limit || size.bytes == 1 && len(page) > 1 {
						t.Errorf("%s: a page of %d", c.Name, len(page))
					}
					for _, v := range page {
						if row := c.place(v.key).Row; seen[row] {
							t.Errorf("%s.%s: row %s twice", c.Table, c.Name, row)
						} else {
							seen[row] = true
						}
					}
				}
				if int64(len(seen)) != want {
					t.Errorf("%s.%s, %+v: %d of %d", c.Table, c.Name, size, len(seen), want)
				}
			}
		}
	})
}

func TestHeadNamesItsKey(t *testing.T) {
	b, err := headOf("0102a0ff")
	if err != nil || fmt.Sprintf("%x", b) != "010102a0ff" {
		t.Errorf("%x, %v", b, err)
	}
	for _, bad := range []string{"", "0102", "0102a0ffff", "0102a0fg"} {
		if _, err := headOf(bad); err == nil {
			t.Errorf("%q is a key's name", bad)
		}
	}
}
