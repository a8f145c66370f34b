package schema_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/wayleave/wayleave/internal/store/dbtest"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// TestWhatWasSaidIsNeverUpdated: the database itself refuses to change what was recorded once. A sealed value may be
// sealed anew, or let go, and never come back.
func TestWhatWasSaidIsNeverUpdated(t *testing.T) {
	type row struct {
		set, where string
		refused    bool
	}
	var rows []row
	each := func(refused bool, table, where string, columns string) {
		for column := range strings.FieldsSeq(columns) {
			name, value, _ := strings.Cut(column, "=")
			rows = append(rows, row{table + " SET " + name + " = " + value, where, refused})
		}
	}
	each(true, "tool_calls", "id = 'call_1'", "id='x' run_id='run_2' agent_id='agent_b' seq=99 tool='x' capability='x' class='effect' digest=:blob caller_key=NULL caller_key='x' named_run=0 "+
		"offer='x' nonce='x' until=1 approval_id='x' created_at=1 why='' why='x' why='x'||why")
	each(false, "tool_calls", "id = 'call_1'", "id=id state='failed' outcome='x' code='x' is_error=1 withheld=1 result=:blob result=NULL late=:blob delivery=2 owner='x' dispatched_at=1 ended_at=1 "+
		"args=:blob args=NULL why=why why=why||'more'")
	each(true, "tool_calls", "id = 'call_2'", "args=:blob") // once it was let go
	each(true, "reservations", "call_id = 'call_1'", "call_id=call_id meter='install' minute=1 at=1")
	each(true, "evidence", "call_id = 'call_1' AND n = 1", "n=7 kind='source' conversation_id='x' provider='x' credential_owner='x' host='x' host=NULL sha256=NULL chars=1 artifact_id='x' at=1")
	each(false, "evidence", "call_id = 'call_1' AND n = 1", "n=n url=:blob title=:blob url=NULL title=NULL")
	each(true, "evidence", "call_id = 'call_1' AND n = 0", "title=:blob") // it had none
	each(true, "reconciliations", "call_id = 'call_8'", "call_id='call_9' verdict='unknown' evidence='x' by_kind='form' by_id='x' at=1")
	each(false, "reconciliations", "call_id = 'call_8'", "verdict=verdict note=:blob note=NULL")
	each(true, "audit", "id = 'audit_1'", "at=1 actor='x' detail='x' link=NULL link=17 hash='x' verb=verb")
	each(false, "audit", "id = 'audit_3'", "detail='x' link=3 hash='cc'")

	dbtest.Each(t, func(t *testing.T, db *sqldb.DB, _ *dbtest.Clock) {
		dbtest.Fill(t, db)
		undo := errors.New("undo")
		for _, r := range rows {
			var args []any
			set := strings.Replace(r.set, ":blob", "$1", 1)
			if set != r.set {
				args = append(args, []byte("sealed anew"))
			}
			err := db.Write(t.Context(), sqldb.Settings, func(tx *sqldb.Tx) error {
				if _, err := tx.Exec("UPDATE tool_calls SET args = NULL WHERE id = 'call_2'"); err != nil {
					return err
				}
				n, err := tx.Exec("UPDATE "+set+" WHERE "+r.where, args...)
				if err == nil && n != 1 {
					t.Errorf("%s: %d rows", r.set, n)
				}
				return errors.Join(err, undo)
			})
			if got := errors.Is(err, sqldb.ErrConstraint); got != r.refused || !errors.Is(err, undo) {
				t.Errorf("UPDATE %s WHERE %s: refused %v, want %v (%v)", r.set, r.where, got, r.refused, err)
			}
			if r.refused && !strings.Contains(err.Error(), "never updated") && !strings.Contains(err.Error(), "only grow") {
				t.Errorf("UPDATE %s: the error does not say why: %v", r.set, err)
			}
		}
	})
}
