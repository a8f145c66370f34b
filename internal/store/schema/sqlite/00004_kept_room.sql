-- +goose Up
-- How much text a run keeps, and which page was used longest ago, without reading past the pages themselves.
CREATE INDEX kept_pages_room ON kept_pages (run_id, used_at, id, bytes) WHERE body IS NOT NULL;
UPDATE settings SET oldest_schema = 1;

-- +goose Down
SELECT 1;
