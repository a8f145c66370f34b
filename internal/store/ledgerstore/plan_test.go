package ledgerstore

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/wayleave/wayleave/internal/store/dbtest"
	"github.com/wayleave/wayleave/internal/store/processstore"
	"github.com/wayleave/wayleave/internal/store/retention"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// hotStatements are asked for every call, or by every process every few seconds.
func hotStatements() map[string]string {
	return map[string]string{
		"ground": askGround, "enter": enterRun, "newest effect": "SELECT " + callColumns + sealedColumns + callTables + " WHERE " + newestEffect, "under way": askUnderWay,
		"abandoned": askAbandoned, "undelivered": askUndelivered, "runs over": askRunsOver, "approvals": askApprovals, "pages": askPages,
		"sealed": retention.AskSealed, "ended": retention.AskEnded, "refused": retention.AskRefused, "dead": retention.AskDead,
		"keyed run":     "SELECT " + runColumns + " FROM runs WHERE " + openUnder("implicit"),
		"session's run": "SELECT " + runColumns + " FROM runs WHERE " + openUnder("session"),
		"notices":       processstore.AskNotices,
		"changed runs":  "SELECT " + runColumns + " FROM runs" + changedRuns, "changed calls": "SELECT " + callColumns + callTables + changedCalls,
		"calls of": "SELECT " + callColumns + askCallsOf,
	}
}

// small may be looked through: processes, indexes of what is open only, and what a subquery has found.
var small = regexp.MustCompile(`processes|SCAN p\b|runs_deadline|approvals_open|approvals_joined|tool_calls_owner|tool_calls_until|notices_unsent|SCAN [a-z]\n`)

func TestHotStatementsLookThroughNoTable(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB, _ *dbtest.Clock) {
		for name, query := range hotStatements() {
			t.Run(name, func(t *testing.T) {
				params := 0
				for n := 1; strings.Contains(query, fmt.Sprintf("$%d", n)); n++ {
					params = n
				}
				explain, scan := "EXPLAIN QUERY PLAN ", regexp.MustCompile(`^SCAN `)
				if db.Dialect() == sqldb.Postgres {
					explain, scan = "EXPLAIN ", regexp.MustCompile(`Seq Scan`)
				}
				plan := ""
				must(t, db.Write(t.Context(), sqldb.Free, func(tx *sqldb.Tx) error {
					if db.Dialect() == sqldb.Postgres { // the tables are empty: only what has no index is looked through then
						if _, err := tx.Exec("SET LOCAL enable_seqscan=off"); err != nil {
							return err
						}
					}
					return tx.All(explain+query, make([]any, params), func(scan func(...any) error) error {
						var line string
						var skip [3]int64
						err := scan(&line)
						if db.Dialect() == sqldb.SQLite {
							err = scan(&skip[0], &skip[1], &skip[2], &line)
						}
						plan += line + "\n"
						return err
					})
				}))
				for line := range strings.Lines(plan) {
					if scan.MatchString(strings.TrimSpace(line)) && !small.MatchString(line) {
						t.Errorf("it looks through a table: %s\n%s", line, plan)
					}
				}
			})
		}
	})
}
