// This file empties the database of a test that ended, for the next test: to make one takes half a second and more.
package dbtest

import (
	"context"
	"database/sql"
	"errors"
	"testing"
)

const (
	// kept is where the rows of a fresh database are remembered.
	kept = "first_rows"
	// emptiedAtMost is how many bytes of tables are worth emptying.
	emptiedAtMost = 32 << 20
	// shapeOf is what a database consists of, its clock apart: tables, columns, indexes, triggers and functions.
	shapeOf = `SELECT md5(string_agg(line, ';' ORDER BY line)) FROM (
	  SELECT c.relname || c.relkind::text || coalesce(a.attname, '') || coalesce(a.atttypid, 0) AS line
	    FROM pg_class c LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
	    WHERE c.relnamespace = 'public'::regnamespace
	  UNION ALL SELECT tgname FROM pg_trigger WHERE NOT tgisinternal
	  UNION ALL SELECT conname FROM pg_constraint WHERE connamespace = 'public'::regnamespace
	  UNION ALL SELECT proname || CASE proname WHEN 'now_us' THEN '' ELSE prosrc END FROM pg_proc WHERE pronamespace = 'public'::regnamespace
	) lines`
	// empty deletes all rows but those of migrations; nothing that guards rows stands in the way.
	empty = `SET session_replication_role = replica;
	DO $$ DECLARE t text; BEGIN
	  FOR t IN SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relname <> 'schema_versions' LOOP
	    EXECUTE format('DELETE FROM %I', t);
	  END LOOP;
	  FOR t IN SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = '` + kept + `'::regnamespace LOOP
	    EXECUTE format('INSERT INTO public.%I TABLE ` + kept + `.%I', t, t);
	  END LOOP;
	END $$`
)

// keepFirst remembers, in the template, the rows that migrations made and the shape that they gave.
func (c *cluster) keepFirst(ctx context.Context) error {
	pool, err := sql.Open("pgx", c.address(template))
	if err != nil {
		return err
	}
	defer func() { _ = pool.Close() }()
	if _, err := pool.ExecContext(ctx, "CREATE SCHEMA "+kept+"; CREATE SEQUENCE "+kept+".clock; CREATE TABLE "+kept+".settings AS TABLE settings"); err != nil {
		return err
	}
	return pool.QueryRowContext(ctx, shapeOf).Scan(&c.shape)
}

// migrated gives a database with tables and without rows.
func (c *cluster) migrated(t testing.TB) string {
	t.Helper()
	name := c.take(&c.emptied)
	if name == "" {
		name = c.create(t, template)
	}
	t.Cleanup(func() {
		if c.empty(name) == nil {
			c.give(&c.emptied, name)
		} else {
			c.strip(t, name)
		}
	})
	return name
}

// tableless gives a database without tables.
func (c *cluster) tableless(t testing.TB) string {
	t.Helper()
	name := c.take(&c.bare)
	if name == "" {
		name = c.create(t, "template0")
	}
	t.Cleanup(func() { c.strip(t, name) })
	return name
}

// take gives a database of a list, or none.
func (c *cluster) take(list *[]string) (name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := len(*list); n > 0 {
		name, *list = (*list)[n-1], (*list)[:n-1]
	}
	return name
}

func (c *cluster) give(list *[]string, name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	*list = append(*list, name)
}

// strip takes all tables out of a database.
func (c *cluster) strip(t testing.TB, name string) {
	conn, err := c.alone(name)
	if err == nil {
		_, err = conn.ExecContext(context.Background(), "DROP SCHEMA IF EXISTS public, "+kept+" CASCADE; CREATE SCHEMA public; GRANT ALL ON SCHEMA public TO PUBLIC")
		err = errors.Join(err, conn.Close())
	}
	if err != nil {
		t.Errorf("strip the test's database: %v", err)
		return
	}
	c.give(&c.bare, name)
}

// alone connects to a database that nobody else is connected to any more.
func (c *cluster) alone(name string) (*sql.DB, error) {
	if _, err := c.admin.Exec("SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = $1", name); err != nil {
		return nil, err
	}
	pool, err := sql.Open("pgx", c.address(name))
	if err == nil {
		pool.SetMaxOpenConns(1)
	}
	return pool, err
}

type changed string

func (c changed) Error() string { return string(c) }

func (c *cluster) empty(name string) error {
	pool, err := c.alone(name)
	if err != nil {
		return err
	}
	defer func() { _ = pool.Close() }()
	var shape string
	var bytes int64
	if err := pool.QueryRow(shapeOf).Scan(&shape); err != nil {
		return err
	}
	if shape != c.shape {
		return changed("its tables were changed")
	}
	if err := pool.QueryRow("SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace").Scan(&bytes); err != nil {
		return err
	}
	if bytes > emptiedAtMost {
		return changed("it grew large")
	}
	_, err = pool.Exec(empty)
	return err
}
