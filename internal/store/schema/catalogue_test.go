package schema_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/wayleave/wayleave/internal/store/dbtest"
	"github.com/wayleave/wayleave/internal/store/schema"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// A catalogue is what a database says of itself, a line a fact, in words that both share.

// TestBothDialectsAreOneSchema compares what the two databases say of their tables: columns in their order with type,
// nullability and default, keys, references, indexes with their conditions, checks, triggers.
func TestBothDialectsAreOneSchema(t *testing.T) {
	lite, _ := dbtest.Open(t, sqldb.SQLite)
	pg, _ := dbtest.Open(t, sqldb.Postgres)
	a, b := catalogue(t, lite), catalogue(t, pg)
	if len(a) < 300 {
		t.Fatalf("the catalogue has only %d facts", len(a))
	}
	for _, line := range difference(a, b) {
		t.Error(line)
	}
}

// TestCatalogueSeesEachKindOfDifference: the comparison above is worth what it notices.
func TestCatalogueSeesEachKindOfDifference(t *testing.T) {
	base := "CREATE TABLE parent (id TEXT PRIMARY KEY); CREATE TABLE t (a TEXT PRIMARY KEY, b %s NOT NULL, c TEXT CHECK (c IN ('x','y')), d TEXT REFERENCES parent(id), e %s DEFAULT 0); CREATE INDEX t_b ON t (b, c) WHERE c <> 'x'"
	same := map[sqldb.Dialect]string{sqldb.SQLite: fmt.Sprintf(base, "INTEGER", "INTEGER"), sqldb.Postgres: fmt.Sprintf(base, "BIGINT", "BIGINT")}
	databases := map[sqldb.Dialect]*sqldb.DB{}
	for _, d := range dbtest.Dialects {
		databases[d] = dbtest.Empty(t, d).Open(t)
	}
	for _, c := range []struct{ name, from, to string }{
		{"nothing", "", ""},
		{"a name", "e BIGINT", "ee BIGINT"},
		{"an order", "d TEXT REFERENCES parent(id), e BIGINT DEFAULT 0", "e BIGINT DEFAULT 0, d TEXT REFERENCES parent(id)"},
		{"a type", "b BIGINT", "b TEXT"},
		{"a narrow type", "b BIGINT", "b INT"},
		{"NULL", "NOT NULL", ""},
		{"a default", "DEFAULT 0", "DEFAULT 1"},
		{"a key", "a TEXT PRIMARY KEY, b BIGINT NOT NULL", "a TEXT NOT NULL, b BIGINT PRIMARY KEY"},
		{"a check", "'x','y'", "'x','z'"},
		{"a reference", " REFERENCES parent(id)", ""},
		{"an index's columns", "(b, c)", "(c, b)"},
		{"an index's condition", "c <> 'x'", "c = 'x'"},
		{"a unique index", "CREATE INDEX", "CREATE UNIQUE INDEX"},
		{"an index more", "CREATE INDEX t_b", "CREATE INDEX t_c ON t (c); CREATE INDEX t_b"},
		{"a table more", "CREATE TABLE t ", "CREATE TABLE u (a TEXT); CREATE TABLE t "},
		{"a table less", "CREATE INDEX t_b ON t (b, c) WHERE c <> 'x'", "DROP TABLE t"},
	} {
		t.Run(c.name, func(t *testing.T) {
			changed := strings.Replace(same[sqldb.Postgres], c.from, c.to, 2)
			if c.from != c.to && changed == same[sqldb.Postgres] {
				t.Fatal("the case changes nothing")
			}
			var facts [2][]string
			for i, d := range dbtest.Dialects {
				db := databases[d]
				text := "DROP TABLE IF EXISTS u; DROP TABLE IF EXISTS t; DROP TABLE IF EXISTS parent; " + map[sqldb.Dialect]string{sqldb.SQLite: same[sqldb.SQLite], sqldb.Postgres: changed}[d]
				if err := db.Write(t.Context(), sqldb.Free, func(tx *sqldb.Tx) error {
					for statement := range strings.SplitSeq(text, "; ") {
						if _, err := tx.Exec(statement); err != nil {
							return err
						}
					}
					return nil
				}); err != nil {
					t.Fatal(err)
				}
				facts[i] = catalogue(t, db)
			}
			if got := difference(facts[0], facts[1]); (len(got) == 0) != (c.from == c.to) {
				t.Errorf("differences: %q", got)
			}
		})
	}
}

func difference(lite, pg []string) (lines []string) {
	for _, l := range lite {
		if !slices.Contains(pg, l) {
			lines = append(lines, "only SQLite: "+l)
		}
	}
	for _, l := range pg {
		if !slices.Contains(lite, l) {
			lines = append(lines, "only PostgreSQL: "+l)
		}
	}
	return lines
}

// catalogue gives the facts of all tables but that of versions, which is goose's, and what it brings along.
func catalogue(t *testing.T, db *sqldb.DB) (facts []string) {
	t.Helper()
	queries := liteCatalogue
	if db.Dialect() == sqldb.Postgres {
		queries = pgCatalogue
	}
	if err := db.Read(t.Context(), func(tx *sqldb.Tx) error {
		facts = nil
		for kind, query := range queries {
			if err := tx.All(query, nil, func(scan func(...any) error) error {
				var table, fact string
				if err := scan(&table, &fact); err != nil {
					return err
				}
				if table != "schema_versions" && table != "sqlite_sequence" {
					facts = append(facts, kind+" "+table+" "+plain(fact))
				}
				return nil
			}); err != nil {
				return fmt.Errorf("%s: %w", kind, err)
			}
		}
		if db.Dialect() == sqldb.SQLite {
			checks, err := liteChecks(tx)
			facts = append(facts, checks...)
			return err
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	slices.Sort(facts)
	return facts
}

// The order of a table's columns is in their numbers. A primary key in SQLite may hold NULL by its declaration; STRICT
// tables and the type INTEGER PRIMARY KEY do not let it.
var liteCatalogue = map[string]string{
	"column": `SELECT m.name, c.cid || ' ' || c.name || ' ' || CASE c.type WHEN 'INTEGER' THEN 'bigint' WHEN 'BLOB' THEN 'bytea' ELSE lower(c.type) END
	  || CASE WHEN c."notnull" OR c.pk > 0 THEN ' not null' ELSE '' END || coalesce(' default ' || c.dflt_value, '')
	  FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE m.type = 'table'`,
	"primary": `SELECT m.name, c.pk || ' ' || c.name FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE m.type = 'table' AND c.pk > 0`,
	"reference": `SELECT m.name, f."from" || ' ' || f."table" || ' ' || f."to" || ' ' || lower(f.on_delete)
	  FROM sqlite_master m JOIN pragma_foreign_key_list(m.name) f WHERE m.type = 'table'`,
	"unique": `SELECT m.name, group_concat(c.name, ',' ORDER BY c.seqno) FROM sqlite_master m JOIN pragma_index_list(m.name) i JOIN pragma_index_info(i.name) c
	  WHERE m.type = 'table' AND i.origin = 'u' GROUP BY m.name, i.name`,
	"index": `SELECT tbl_name, name || ' ' || CASE WHEN sql LIKE 'CREATE UNIQUE%' THEN 'unique ' ELSE '' END || substr(sql, instr(sql, '('))
	  FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL`,
	"trigger": `SELECT tbl_name, name FROM sqlite_master WHERE type = 'trigger'`,
}

var pgCatalogue = map[string]string{
	"column": `SELECT c.relname::text, (a.attnum - (SELECT count(*) FROM pg_attribute d WHERE d.attrelid = c.oid AND d.attisdropped AND d.attnum BETWEEN 1 AND a.attnum) - 1)::text
	  || ' ' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod) || CASE WHEN a.attnotnull THEN ' not null' ELSE '' END
	  || coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), '')
	  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
	  LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace`,
	"primary": `SELECT c.relname::text, k.n || ' ' || a.attname FROM pg_constraint p JOIN pg_class c ON c.oid = p.conrelid
	  CROSS JOIN LATERAL unnest(p.conkey) WITH ORDINALITY AS k(col, n) JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.col
	  WHERE p.contype = 'p' AND c.relnamespace = 'public'::regnamespace`,
	"reference": `SELECT c.relname::text, a.attname || ' ' || r.relname || ' ' || b.attname || ' ' || CASE p.confdeltype WHEN 'a' THEN 'no action' ELSE p.confdeltype::text END
	  FROM pg_constraint p JOIN pg_class c ON c.oid = p.conrelid JOIN pg_class r ON r.oid = p.confrelid
	  CROSS JOIN LATERAL unnest(p.conkey, p.confkey) AS k(col, ref)
	  JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.col JOIN pg_attribute b ON b.attrelid = r.oid AND b.attnum = k.ref
	  WHERE p.contype = 'f' AND c.relnamespace = 'public'::regnamespace`,
	"unique": `SELECT c.relname::text, string_agg(a.attname, ',' ORDER BY k.n) FROM pg_constraint p JOIN pg_class c ON c.oid = p.conrelid
	  CROSS JOIN LATERAL unnest(p.conkey) WITH ORDINALITY AS k(col, n) JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.col
	  WHERE p.contype = 'u' AND c.relnamespace = 'public'::regnamespace GROUP BY c.relname, p.oid`,
	"index": `SELECT tablename::text, indexname || ' ' || CASE WHEN indexdef LIKE 'CREATE UNIQUE%' THEN 'unique ' ELSE '' END || substr(indexdef, strpos(indexdef, '('))
	  FROM pg_indexes i WHERE schemaname = 'public' AND NOT EXISTS (SELECT 1 FROM pg_constraint WHERE conname = i.indexname)`,
	"check": `SELECT c.relname::text, pg_get_expr(p.conbin, p.conrelid) FROM pg_constraint p JOIN pg_class c ON c.oid = p.conrelid
	  WHERE p.contype = 'c' AND c.relnamespace = 'public'::regnamespace`,
	"trigger": `SELECT c.relname::text, t.tgname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid WHERE NOT t.tgisinternal`,
}

// liteChecks reads the checks out of the tables' own texts: SQLite has no list of them.
func liteChecks(tx *sqldb.Tx) (facts []string, err error) {
	err = tx.All("SELECT name, sql FROM sqlite_master WHERE type = 'table'", nil, func(scan func(...any) error) error {
		var table, text string
		if err := scan(&table, &text); err != nil {
			return err
		}
		for {
			_, after, found := strings.Cut(text, "CHECK (")
			if !found {
				return nil
			}
			depth, end := 1, 0
			for ; depth > 0 && end < len(after); end++ {
				switch after[end] {
				case '(':
					depth++
				case ')':
					depth--
				}
			}
			facts = append(facts, "check "+table+" "+plain(after[:end-1]))
			text = after[end:]
		}
	})
	return facts, err
}

var (
	cast = regexp.MustCompile(`::(text|bigint|text\[\])`)
	list = regexp.MustCompile(`= ?any ?\(*array\[([^\]]*)\]\)*`)
)

// plain takes away what the two spell differently and mean alike: casts, brackets, spaces, IN and = ANY.
func plain(s string) string {
	s = cast.ReplaceAllString(strings.ToLower(s), "")
	s = list.ReplaceAllString(s, "in $1")
	return strings.Join(strings.Fields(strings.NewReplacer("(", " ", ")", " ", ",", " ", "where", " where ").Replace(s)), " ")
}

// TestMigrationsKeepTheRules: released migrations are numbered without gaps, are there for both dialects, and each after
// the first says which programs may go on using the database: those of one version before at least.
func TestMigrationsKeepTheRules(t *testing.T) {
	for _, d := range dbtest.Dialects {
		names, err := schema.Files.ReadDir(string(d))
		if err != nil || len(names) == 0 {
			t.Fatal(err)
		}
		for i, e := range names {
			text, err := schema.Files.ReadFile(string(d) + "/" + e.Name())
			if err != nil {
				t.Fatal(err)
			}
			if complaint := ruleOf(i+1, e.Name(), string(text)); complaint != "" {
				t.Errorf("%s/%s: %s", d, e.Name(), complaint)
			}
			if _, err := schema.Files.ReadFile(string(map[sqldb.Dialect]sqldb.Dialect{sqldb.SQLite: sqldb.Postgres, sqldb.Postgres: sqldb.SQLite}[d]) + "/" + e.Name()); err != nil {
				t.Errorf("%s is there for one dialect alone", e.Name())
			}
		}
	}
	for _, c := range []struct {
		n          int
		name, text string
		ok         bool
	}{
		{1, "00001_ledger.sql", "CREATE TABLE …", true},
		{2, "00002_x.sql", "ALTER …;\nUPDATE settings SET oldest_schema = 1;\n", true},
		{3, "00003_x.sql", "UPDATE settings SET oldest_schema = 3;\n", false},
		{2, "00002_x.sql", "ALTER …;", false},
		{2, "00003_x.sql", "UPDATE settings SET oldest_schema = 1;\n", false},
	} {
		if got := ruleOf(c.n, c.name, c.text); (got == "") != c.ok {
			t.Errorf("%d %s %q: %q", c.n, c.name, c.text, got)
		}
	}
}

func ruleOf(n int, name, text string) string {
	if !strings.HasPrefix(name, fmt.Sprintf("%05d_", n)) {
		return fmt.Sprintf("it should have number %d", n)
	}
	if n == 1 {
		return ""
	}
	var oldest int
	_, said, found := strings.Cut(text, "UPDATE settings SET oldest_schema = ")
	if _, err := fmt.Sscanf(said, "%d", &oldest); !found || err != nil {
		return "it does not say which programs may use the database after it: UPDATE settings SET oldest_schema = …"
	}
	if oldest > n-1 {
		return fmt.Sprintf("programs of schema %d must be able to use it", n-1)
	}
	return ""
}
