package ledgerstore

import (
	"testing"

	"github.com/wayleave/wayleave/internal/store/dbtest"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

func TestTM044CallOfARevokedTokenIsNotAdmitted(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB, clock *dbtest.Clock) {
		st := newStage(t, db, clock)
		st.exec(`INSERT INTO agent_tokens(id, agent_id, hash, scope, created_at) VALUES('tok_1', $1, 'h1', 'tools', now_us())`, agentID)
		admit := func(token string) error {
			a := st.ask(looking)
			a.Token = token
			_, err := st.s.Admit(t.Context(), a)
			return err
		}
		for _, works := range []string{"", "tok_1"} {
			must(t, admit(works))
		}
		st.exec(`UPDATE agent_tokens SET revoked_at=now_us() WHERE id='tok_1'`)
		for _, no := range []string{"tok_1", "tok_2"} {
			if r := refusedAs(t, admit(no), "capability_disabled"); r.Reason == "" {
				t.Errorf("token %q: it is not said why", no)
			}
		}
	})
}
