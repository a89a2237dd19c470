package parquet

import (
	"fmt"
	"time"

	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/files"
)

// Kind is the row of the table of kinds.
func Kind() outputs.Kind {
	return outputs.Kind{
		Name: "parquet", Engine: "files", About: "files of Parquet in a folder: one for 5 minutes, or for 4 MiB of rows", Place: "FOLDER", Example: "results,window=60s",
		Delivery: outputs.Exact, Limits: outputs.Limits{Rows: 20_000, Bytes: 4 << 20, Age: 5 * time.Minute, Timeout: 30 * time.Second},
		Tested: "the reader of parquet-go 0.32", Schema: schema(),
		Open: func(s *outputs.Settings) (outputs.Sink, error) {
			return folderOf(s.Place), nil
		},
	}
}

// schema is the columns as people read them.
func schema() string {
	names := [...]string{ofText: "string", ofWhole: "int64", ofTime: "timestamp in milliseconds, UTC", ofTruth: "boolean", ofFloat: "double"}
	all := "JOB-FROM-TO-DIGEST.parquet, with times in milliseconds of the job. No column has nulls: what a row has not is empty, 0 or NaN.\n" +
		"Of rows with one key (kind, job, datacenter, workflow, step, step_kind, expression, sequence; from_ms and to_ms of window and lost) the greatest version counts.\n"
	for _, c := range columns() {
		of := names[c.of]
		if c.lists() {
			of = "list of " + of
		}
		all += fmt.Sprintf("%-18s %s\n", c.name, of)
	}
	return all
}

// folderOf is a folder with a file of Parquet for each batch.
func folderOf(path string) *files.Folder {
	return &files.Folder{Path: path, Ending: ".parquet", Encode: encode}
}
