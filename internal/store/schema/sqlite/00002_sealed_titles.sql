-- +goose Up
-- What a harness calls a run is somebody's words, so it is sealed. A run of before keeps its title in the clear until its time
-- of keeping is over; programs of before show none for the runs of later ones.
ALTER TABLE runs ADD COLUMN title_sealed BLOB;
UPDATE settings SET oldest_schema = 1;

-- +goose Down
SELECT 1;
