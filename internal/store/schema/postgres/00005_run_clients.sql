-- +goose Up
-- What the client of a run calls itself, so that people know runs by it. Runs that programs of before opened have none here;
-- of an implicit one it stands in its key.
ALTER TABLE runs ADD COLUMN client TEXT;
UPDATE settings SET oldest_schema = 1;

-- +goose Down
SELECT 1;
