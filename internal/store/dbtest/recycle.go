// This file empties the database of a test that ended, for the next test: to make one takes half a second.
package dbtest

import (
	"context"
	"database/sql"
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
	if _, err := pool.ExecContext(ctx, "CREATE SCHEMA "+kept+"; CREATE TABLE "+kept+".settings AS TABLE settings"); err != nil {
		return err
	}
	return pool.QueryRowContext(ctx, shapeOf).Scan(&c.shape)
}

// migrated gives a database with tables and without rows, which is emptied or dropped when the test ends.
func (c *cluster) migrated(t testing.TB) string {
	t.Helper()
	c.mu.Lock()
	var name string
	if n := len(c.emptied); n > 0 {
		name, c.emptied = c.emptied[n-1], c.emptied[:n-1]
	}
	c.mu.Unlock()
	if name == "" {
		name = c.create(t, template)
	}
	t.Cleanup(func() {
		if err := c.empty(name); err != nil {
			t.Logf("the database is dropped, not emptied: %v", err)
			c.drop(t, name)
			return
		}
		c.mu.Lock()
		c.emptied = append(c.emptied, name)
		c.mu.Unlock()
	})
	return name
}

type changed string

func (c changed) Error() string { return string(c) }

func (c *cluster) empty(name string) error {
	ctx, cancel := context.WithTimeout(context.Background(), startWithin)
	defer cancel()
	if _, err := c.admin.ExecContext(ctx, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1", name); err != nil {
		return err
	}
	pool, err := sql.Open("pgx", c.address(name))
	if err != nil {
		return err
	}
	defer func() { _ = pool.Close() }()
	conn, err := pool.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	var shape string
	var bytes int64
	if err := conn.QueryRowContext(ctx, shapeOf).Scan(&shape); err != nil {
		return err
	}
	if shape != c.shape {
		return changed("its tables were changed")
	}
	if err := conn.QueryRowContext(ctx, "SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace").Scan(&bytes); err != nil {
		return err
	}
	if bytes > emptiedAtMost {
		return changed("it grew large")
	}
	_, err = conn.ExecContext(ctx, empty)
	return err
}
