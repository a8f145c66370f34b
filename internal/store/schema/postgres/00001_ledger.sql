-- +goose Up
-- The clock of the database in microseconds. Never now(): that is when the transaction began.
-- +goose StatementBegin
CREATE FUNCTION now_us() RETURNS BIGINT LANGUAGE sql VOLATILE AS
$$ SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::BIGINT $$;
-- +goose StatementEnd

CREATE TABLE settings (
  id            BIGINT PRIMARY KEY CHECK (id = 1),
  epoch         BIGINT NOT NULL,            -- every configuration write adds 1
  oldest_schema BIGINT NOT NULL,            -- programs that know this version of the schema, or a later one, may use the database
  install       TEXT NOT NULL,               -- a random label: the name of this install on loopback
  digest_key    BYTEA,                        -- sealed
  audit_key     BYTEA,                        -- sealed
  paused_at     BIGINT,
  paused_by     TEXT,
  created_at    BIGINT NOT NULL
);
INSERT INTO settings (id, epoch, oldest_schema, install, created_at) VALUES (1, 1, 1, '', now_us());

CREATE TABLE keysets (
  id            TEXT PRIMARY KEY,            -- of the wrapping: new at each rewrap and rotation
  wrapped       BYTEA NOT NULL,               -- the keyset under the master key
  master        TEXT NOT NULL,               -- which master key: a fingerprint, not the key
  primary_key   TEXT NOT NULL,               -- id of the key that seals now
  created_at    BIGINT NOT NULL,
  retired_at    BIGINT
);
CREATE UNIQUE INDEX keysets_current ON keysets ((retired_at IS NULL)) WHERE retired_at IS NULL;

CREATE TABLE agents (
  id             TEXT PRIMARY KEY,
  slug           TEXT NOT NULL UNIQUE,
  name           TEXT NOT NULL,
  state          TEXT NOT NULL CHECK (state IN ('active','disabled')),
  grants_version BIGINT NOT NULL,
  elicitation    BIGINT NOT NULL DEFAULT 0, -- 1: this agent's client asks a person
  paused_at      BIGINT,
  paused_by      TEXT,
  created_at     BIGINT NOT NULL
);

CREATE TABLE agent_tokens (
  id         TEXT PRIMARY KEY,
  agent_id   TEXT NOT NULL REFERENCES agents(id),
  hash       TEXT NOT NULL UNIQUE,
  scope      TEXT NOT NULL CHECK (scope IN ('tools','harness')),
  created_at BIGINT NOT NULL,
  revoked_at BIGINT,
  used_at    BIGINT,
  used_from  TEXT
);
CREATE INDEX agent_tokens_agent ON agent_tokens (agent_id);

CREATE TABLE people (
  id         TEXT PRIMARY KEY,
  name       TEXT NOT NULL UNIQUE,
  role       TEXT NOT NULL CHECK (role IN ('owner','operator','viewer')),
  agents     TEXT NOT NULL,                  -- JSON list of agent ids, or "all"
  password   TEXT,                           -- argon2id
  state      TEXT NOT NULL CHECK (state IN ('active','disabled')),
  created_at BIGINT NOT NULL
);

CREATE TABLE person_credentials (
  id         TEXT PRIMARY KEY,
  person_id  TEXT NOT NULL REFERENCES people(id),
  kind       TEXT NOT NULL CHECK (kind IN ('link','session','token')),
  hash       TEXT NOT NULL UNIQUE,
  confirm    TEXT,                           -- hash of a session's second secret
  label      TEXT,
  created_at BIGINT NOT NULL,
  used_at    BIGINT,
  expires_at BIGINT,
  ended_at   BIGINT
);
CREATE INDEX person_credentials_person ON person_credentials (person_id, kind);

CREATE TABLE sign_in_attempts (
  subject TEXT PRIMARY KEY,                  -- name:<16 bits of its hash>, or from:<address>
  used    BIGINT NOT NULL,
  since   BIGINT NOT NULL                   -- the first of them: a window of fixed length begins there
);
CREATE INDEX sign_in_attempts_since ON sign_in_attempts (since);

CREATE TABLE connections (
  owner        TEXT NOT NULL,                -- install, or an agent's id
  capability   TEXT NOT NULL,
  mode         TEXT NOT NULL CHECK (mode IN ('auto','own','inherit','disabled')),
  provider     TEXT,
  version      BIGINT NOT NULL,
  run_limit    BIGINT CHECK (run_limit >= 1),
  minute_limit BIGINT CHECK (minute_limit >= 1),
  changed_at   BIGINT NOT NULL,
  changed_by   TEXT NOT NULL,
  PRIMARY KEY (owner, capability)
);

CREATE TABLE allowed_hosts (
  id         TEXT PRIMARY KEY,
  agent_id   TEXT,                           -- NULL: for every agent
  host       TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  created_by TEXT NOT NULL
);
CREATE UNIQUE INDEX allowed_hosts_of ON allowed_hosts (coalesce(agent_id, ''), host);

CREATE TABLE processes (
  id         TEXT PRIMARY KEY,
  label      TEXT NOT NULL,
  version    TEXT NOT NULL,
  started_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  dead       BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX processes_live ON processes (expires_at) WHERE dead = 0;

CREATE TABLE runs (
  id              TEXT PRIMARY KEY,
  agent_id        TEXT NOT NULL REFERENCES agents(id),
  kind            TEXT NOT NULL CHECK (kind IN ('explicit','session','implicit')),
  implicit_key    TEXT,                      -- token and client name; of a session's run the session
  audience        TEXT NOT NULL,
  conversation_id TEXT NOT NULL,
  title           TEXT,
  state           TEXT NOT NULL CHECK (state IN ('open','ended')),
  deadline        BIGINT NOT NULL,
  idle            BIGINT,                    -- how long it may idle; NULL: it never ends by idling
  idle_until      BIGINT,
  max_tool_calls  BIGINT NOT NULL CHECK (max_tool_calls >= 1),
  calls           BIGINT NOT NULL DEFAULT 0,
  refused         BIGINT NOT NULL DEFAULT 0,
  hold_call       TEXT,
  end_reason      TEXT,
  created_at      BIGINT NOT NULL,
  ended_at        BIGINT,
  purged_at       BIGINT                   -- when what it had sealed was removed
);
CREATE INDEX runs_agent ON runs (agent_id, created_at);
CREATE UNIQUE INDEX runs_implicit ON runs (agent_id, implicit_key) WHERE kind = 'implicit' AND state = 'open';
CREATE UNIQUE INDEX runs_session ON runs (agent_id, implicit_key) WHERE kind = 'session' AND state = 'open';
CREATE INDEX runs_deadline ON runs (deadline) WHERE state = 'open';
CREATE INDEX runs_ended ON runs (ended_at) WHERE state = 'ended';
CREATE INDEX runs_created ON runs (created_at, id);
CREATE INDEX runs_sealed ON runs (ended_at) WHERE state = 'ended' AND purged_at IS NULL;

CREATE TABLE mcp_sessions (
  id         TEXT PRIMARY KEY,               -- the protocol's session id, hashed: it names, and a backup must not
  agent_id   TEXT NOT NULL REFERENCES agents(id),
  token_id   TEXT NOT NULL,
  initialize BYTEA NOT NULL,                  -- sealed: the handshake, replayed where another process adopts the session
  used_at    BIGINT NOT NULL,
  ended_at   BIGINT
);
CREATE INDEX mcp_sessions_used ON mcp_sessions (used_at);

CREATE TABLE tool_calls (
  id            TEXT PRIMARY KEY,
  run_id        TEXT NOT NULL REFERENCES runs(id),
  agent_id      TEXT NOT NULL REFERENCES agents(id),
  seq           BIGINT NOT NULL,
  tool          TEXT NOT NULL,
  capability    TEXT NOT NULL,
  class         TEXT NOT NULL CHECK (class IN ('query','observation','effect')),
  state         TEXT NOT NULL CHECK (state IN ('refused','admitted','dispatched','succeeded','failed','uncertain')),
  outcome       TEXT,
  code          TEXT,
  is_error      BIGINT NOT NULL DEFAULT 0,
  withheld      BIGINT NOT NULL DEFAULT 0,
  digest        BYTEA NOT NULL,
  caller_key    TEXT,
  named_run     BIGINT NOT NULL,
  offer         TEXT NOT NULL,
  nonce         TEXT NOT NULL,
  owner         TEXT NOT NULL,
  until         BIGINT NOT NULL,
  args          BYTEA,                        -- sealed; NULL once its time of keeping is over
  result        BYTEA,                        -- sealed
  late          BYTEA,                        -- sealed
  delivery      BIGINT NOT NULL DEFAULT 0,  -- 0 waiting, 1 handed over, 2 caller gone
  approval_id   TEXT,
  why           TEXT NOT NULL,               -- one JSON object a line: stage, at, fact, ref
  created_at    BIGINT NOT NULL,
  dispatched_at BIGINT,
  ended_at      BIGINT
);
CREATE UNIQUE INDEX tool_calls_key ON tool_calls (agent_id, caller_key) WHERE caller_key IS NOT NULL AND state <> 'refused';
CREATE INDEX tool_calls_run ON tool_calls (run_id, seq);
CREATE INDEX tool_calls_owner ON tool_calls (owner) WHERE state IN ('admitted','dispatched');
CREATE INDEX tool_calls_until ON tool_calls (until) WHERE state IN ('admitted','dispatched');
CREATE INDEX tool_calls_ended ON tool_calls (ended_at);
CREATE INDEX tool_calls_created ON tool_calls (created_at);
CREATE INDEX tool_calls_refused ON tool_calls (created_at) WHERE state = 'refused';
CREATE INDEX tool_calls_uncertain ON tool_calls (run_id) WHERE state = 'uncertain';
CREATE INDEX tool_calls_effects ON tool_calls (run_id, seq) WHERE class = 'effect' AND state <> 'refused';
CREATE INDEX tool_calls_undelivered ON tool_calls (owner) WHERE delivery = 0 AND state <> 'refused';

CREATE TABLE reservations (
  call_id            TEXT PRIMARY KEY REFERENCES tool_calls(id),
  run_id             TEXT NOT NULL,
  agent_id           TEXT NOT NULL,
  capability         TEXT NOT NULL,
  meter              TEXT NOT NULL,          -- install, agent:<id>, or - where nothing is counted
  minute             BIGINT NOT NULL,
  provider           TEXT NOT NULL,
  credential_owner   TEXT NOT NULL,
  connection_version BIGINT NOT NULL,
  account_version    TEXT NOT NULL,
  at                 BIGINT NOT NULL
);
CREATE INDEX reservations_run ON reservations (run_id, capability);
CREATE INDEX reservations_meter ON reservations (meter, capability, minute);

CREATE TABLE run_meters (
  run_id     TEXT NOT NULL REFERENCES runs(id),
  capability TEXT NOT NULL,
  used       BIGINT NOT NULL,
  PRIMARY KEY (run_id, capability)
);

CREATE TABLE minute_meters (
  meter      TEXT NOT NULL,
  capability TEXT NOT NULL,
  minute     BIGINT NOT NULL,
  used       BIGINT NOT NULL,
  PRIMARY KEY (meter, capability, minute)
);

CREATE TABLE evidence (
  call_id          TEXT NOT NULL REFERENCES tool_calls(id),
  n                BIGINT NOT NULL,
  kind             TEXT NOT NULL CHECK (kind IN ('source','content','artifact')),
  conversation_id  TEXT NOT NULL,
  provider         TEXT NOT NULL,
  credential_owner TEXT NOT NULL,
  host             TEXT,
  url              BYTEA,                     -- sealed
  title            BYTEA,                     -- sealed
  sha256           TEXT,
  chars            BIGINT,
  artifact_id      TEXT,
  at               BIGINT NOT NULL,
  PRIMARY KEY (call_id, n)
);
CREATE INDEX evidence_conversation ON evidence (conversation_id, at);

CREATE TABLE kept_pages (
  id         TEXT PRIMARY KEY,
  run_id     TEXT NOT NULL REFERENCES runs(id),
  call_id    TEXT NOT NULL,
  page_key   TEXT NOT NULL,                  -- keyed digest: an address must not be read from it
  alias_of   TEXT,                           -- the row that has the body: a page may be read on under the address that answered
  snapshot   BIGINT NOT NULL,
  sha256     TEXT NOT NULL,
  body       BYTEA,                           -- sealed; NULL once the page is gone and only its number and hash are known
  chars      BIGINT NOT NULL,
  bytes      BIGINT NOT NULL,
  kept_at    BIGINT NOT NULL,
  used_at    BIGINT NOT NULL,
  expires_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX kept_pages_key ON kept_pages (run_id, page_key);
CREATE INDEX kept_pages_expires ON kept_pages (expires_at) WHERE body IS NOT NULL;

CREATE TABLE offers (
  audience    TEXT NOT NULL,
  tool        TEXT NOT NULL,
  agent_id    TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  facts       TEXT NOT NULL,                 -- JSON, for explanations
  made_at     BIGINT NOT NULL,
  PRIMARY KEY (audience, tool)
);

CREATE TABLE leases (
  resource TEXT PRIMARY KEY,
  fence    BIGINT NOT NULL,
  owner    TEXT,
  call_id  TEXT,
  taken_at BIGINT NOT NULL,
  until    BIGINT NOT NULL
);

CREATE TABLE reconciliations (
  call_id TEXT PRIMARY KEY REFERENCES tool_calls(id),
  verdict TEXT NOT NULL CHECK (verdict IN ('happened','not_happened','unknown')),
  note    BYTEA,                              -- sealed
  evidence TEXT,
  by_kind TEXT NOT NULL CHECK (by_kind IN ('operator','harness','form')),
  by_id   TEXT NOT NULL,
  at      BIGINT NOT NULL
);
CREATE INDEX reconciliations_at ON reconciliations (at);

CREATE TABLE approvals (
  id           TEXT PRIMARY KEY,
  agent_id     TEXT NOT NULL REFERENCES agents(id),
  run_id       TEXT NOT NULL REFERENCES runs(id),
  tool         TEXT NOT NULL,
  digest       BYTEA NOT NULL,
  profile_hash TEXT NOT NULL,
  tier         TEXT NOT NULL CHECK (tier IN ('read','navigate','interact','sensitive')),
  state        TEXT NOT NULL CHECK (state IN ('open','approved','used','denied','unanswered','void')),
  question     BYTEA,                         -- sealed
  channel      TEXT,                         -- page, terminal, api, elicitation
  answered_by  TEXT,
  created_at   BIGINT NOT NULL,
  expires_at   BIGINT NOT NULL,             -- of the question
  answered_at  BIGINT,
  good_until   BIGINT,                      -- of the answer
  used_by      TEXT,                         -- the call that used it up
  told_at      BIGINT                        -- when a caller was told that nobody answered
);
CREATE INDEX approvals_open ON approvals (agent_id, created_at) WHERE state IN ('open','approved');
CREATE UNIQUE INDEX approvals_joined ON approvals (run_id, tool, digest, profile_hash) WHERE state IN ('open','approved');

CREATE TABLE notices (
  id            TEXT PRIMARY KEY,
  kind          TEXT NOT NULL,
  subject_id    TEXT NOT NULL,
  run_id        TEXT NOT NULL,
  created_at    BIGINT NOT NULL,
  claimed_by    TEXT,
  claimed_until BIGINT,
  sent_at       BIGINT
);
CREATE INDEX notices_unsent ON notices (created_at) WHERE sent_at IS NULL;

CREATE TABLE audit (
  id      TEXT PRIMARY KEY,
  at      BIGINT NOT NULL,
  actor   TEXT NOT NULL,
  verb    TEXT NOT NULL,
  subject TEXT NOT NULL,
  detail  TEXT NOT NULL,                     -- JSON, without secrets and page text
  link    BIGINT UNIQUE,
  prev    TEXT,
  hash    TEXT
);
CREATE INDEX audit_unlinked ON audit (at) WHERE link IS NULL;

CREATE TABLE audit_checkpoints (
  link BIGINT PRIMARY KEY,
  at   BIGINT NOT NULL,
  hash TEXT NOT NULL
);

-- What was said once stays said. A sealed value may be sealed anew under another key, or let go when its time of keeping
-- is over; it never comes back. The names are the same on both databases.
-- +goose StatementBegin
CREATE FUNCTION refuse_update() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION '%', TG_ARGV[0] USING ERRCODE = 'restrict_violation'; END $$;
-- +goose StatementEnd
CREATE TRIGGER reservations_fixed BEFORE UPDATE ON reservations
FOR EACH ROW
EXECUTE FUNCTION refuse_update('a reservation is never updated');
CREATE TRIGGER evidence_fixed BEFORE UPDATE ON evidence
FOR EACH ROW WHEN (NEW.call_id IS DISTINCT FROM OLD.call_id
  OR NEW.n IS DISTINCT FROM OLD.n
  OR NEW.kind IS DISTINCT FROM OLD.kind
  OR NEW.conversation_id IS DISTINCT FROM OLD.conversation_id
  OR NEW.provider IS DISTINCT FROM OLD.provider
  OR NEW.credential_owner IS DISTINCT FROM OLD.credential_owner
  OR NEW.host IS DISTINCT FROM OLD.host
  OR NEW.sha256 IS DISTINCT FROM OLD.sha256
  OR NEW.chars IS DISTINCT FROM OLD.chars
  OR NEW.artifact_id IS DISTINCT FROM OLD.artifact_id
  OR NEW.at IS DISTINCT FROM OLD.at
  OR OLD.url IS NULL AND NEW.url IS NOT NULL
  OR OLD.title IS NULL AND NEW.title IS NOT NULL)
EXECUTE FUNCTION refuse_update('evidence is never updated');
CREATE TRIGGER reconciliations_fixed BEFORE UPDATE ON reconciliations
FOR EACH ROW WHEN (NEW.call_id IS DISTINCT FROM OLD.call_id
  OR NEW.verdict IS DISTINCT FROM OLD.verdict
  OR NEW.evidence IS DISTINCT FROM OLD.evidence
  OR NEW.by_kind IS DISTINCT FROM OLD.by_kind
  OR NEW.by_id IS DISTINCT FROM OLD.by_id
  OR NEW.at IS DISTINCT FROM OLD.at
  OR OLD.note IS NULL AND NEW.note IS NOT NULL)
EXECUTE FUNCTION refuse_update('a reconciliation is never updated');
CREATE TRIGGER audit_fixed BEFORE UPDATE ON audit
FOR EACH ROW WHEN (OLD.link IS NOT NULL)
EXECUTE FUNCTION refuse_update('a linked audit entry is never updated');
CREATE TRIGGER tool_calls_fixed BEFORE UPDATE ON tool_calls
FOR EACH ROW WHEN (NEW.id IS DISTINCT FROM OLD.id
  OR NEW.run_id IS DISTINCT FROM OLD.run_id
  OR NEW.agent_id IS DISTINCT FROM OLD.agent_id
  OR NEW.seq IS DISTINCT FROM OLD.seq
  OR NEW.tool IS DISTINCT FROM OLD.tool
  OR NEW.capability IS DISTINCT FROM OLD.capability
  OR NEW.class IS DISTINCT FROM OLD.class
  OR NEW.digest IS DISTINCT FROM OLD.digest
  OR NEW.caller_key IS DISTINCT FROM OLD.caller_key
  OR NEW.named_run IS DISTINCT FROM OLD.named_run
  OR NEW.offer IS DISTINCT FROM OLD.offer
  OR NEW.nonce IS DISTINCT FROM OLD.nonce
  OR NEW.until IS DISTINCT FROM OLD.until
  OR NEW.approval_id IS DISTINCT FROM OLD.approval_id
  OR NEW.created_at IS DISTINCT FROM OLD.created_at
  OR OLD.args IS NULL AND NEW.args IS NOT NULL)
EXECUTE FUNCTION refuse_update('this column of a call is never updated');
CREATE TRIGGER tool_calls_why BEFORE UPDATE ON tool_calls
FOR EACH ROW WHEN (NOT starts_with(NEW.why, OLD.why))
EXECUTE FUNCTION refuse_update('the reasons of a call only grow');

-- +goose Down
SELECT 1;
