-- +goose Up
-- How much text a run keeps, and which page was used longest ago, without reading past the pages themselves; and whether
-- its site can be asked if a page still holds. Pages that programs of before kept are not asked about.
ALTER TABLE kept_pages ADD COLUMN tagged BIGINT NOT NULL DEFAULT 0;
CREATE INDEX kept_pages_room ON kept_pages (run_id, used_at, id, bytes) WHERE body IS NOT NULL;
UPDATE settings SET oldest_schema = 1;

-- +goose Down
SELECT 1;
