-- +goose Up
-- What made a page hardly the one that was asked for, by its kind in the closed list: for statistics of thin reads by host.
-- Reads of programs of before have none.
ALTER TABLE evidence ADD COLUMN thin TEXT;
UPDATE settings SET oldest_schema = 1;

-- +goose Down
SELECT 1;
