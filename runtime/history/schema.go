package history

// schemaVersion is of the tables below. A later version adds columns and tables.
const schemaVersion = 1

// applicationID marks a file as a history: "hysc".
const applicationID = 0x68797363

// schema makes the tables. Times are UTC in RFC 3339 with milliseconds, so that they sort as text.
const schema = `
CREATE TABLE hyperscale_schema (version INTEGER NOT NULL, digest_key BLOB NOT NULL);
CREATE TABLE hyperscale_run (
  job TEXT PRIMARY KEY, name TEXT NOT NULL, number INTEGER NOT NULL, started TEXT NOT NULL, ended TEXT, outcome TEXT,
  program_digest TEXT, load_digest TEXT, params_digest TEXT, load TEXT, hyperscale_version TEXT, machine TEXT, saturated INTEGER,
  tag TEXT, tags TEXT, thresholds_ok INTEGER, requests INTEGER, lost_requests INTEGER, failed INTEGER, p50_ns INTEGER, p99_ns INTEGER,
  UNIQUE (name, number));
CREATE INDEX hyperscale_run_series ON hyperscale_run (name, load_digest, number);
CREATE TABLE hyperscale_result (
  job TEXT NOT NULL REFERENCES hyperscale_run (job) ON DELETE CASCADE, workflow TEXT NOT NULL, step TEXT NOT NULL,
  begun INTEGER, ok INTEGER, failed INTEGER, timed_out INTEGER, cancelled INTEGER, dropped INTEGER, skipped INTEGER,
  bytes_in INTEGER, bytes_out INTEGER, rate_milli INTEGER,
  p50_ns INTEGER, p90_ns INTEGER, p95_ns INTEGER, p99_ns INTEGER, p999_ns INTEGER, min_ns INTEGER, mean_ns INTEGER, max_ns INTEGER,
  statuses TEXT, errors TEXT, PRIMARY KEY (job, workflow, step)) WITHOUT ROWID;
CREATE TABLE hyperscale_threshold (
  job TEXT NOT NULL REFERENCES hyperscale_run (job) ON DELETE CASCADE, workflow TEXT NOT NULL, expression TEXT NOT NULL,
  value REAL, wanted TEXT, met INTEGER, PRIMARY KEY (job, workflow, expression)) WITHOUT ROWID;
CREATE TABLE hyperscale_file (
  job TEXT PRIMARY KEY REFERENCES hyperscale_run (job) ON DELETE CASCADE, result BLOB NOT NULL);
`
