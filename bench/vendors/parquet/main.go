// Command parquet reads files of Parquet with the reader of parquet-go, for tests, and prints each row as a line of JSON.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"math"
	"os"

	"github.com/parquet-go/parquet-go"
)

// Row has each column under its name.
type Row struct {
	Kind       string `parquet:"kind" json:"kind"`
	Job        string `parquet:"job" json:"job"`
	Test       string `parquet:"test" json:"test"`
	Datacenter string `parquet:"datacenter" json:"datacenter"`
	Workflow   string `parquet:"workflow" json:"workflow"`
	Step       string `parquet:"step" json:"step"`
	StepKind   string `parquet:"step_kind" json:"step_kind"`
	Started    int64  `parquet:"started,timestamp(millisecond)" json:"started"`
	FromMS     int64  `parquet:"from_ms" json:"from_ms"`
	ToMS       int64  `parquet:"to_ms" json:"to_ms"`
	Version    string `parquet:"version" json:"version"`
	Rebased    bool   `parquet:"rebased" json:"rebased"`
	Blunt      bool   `parquet:"blunt" json:"blunt"`

	Begun       int64 `parquet:"begun" json:"begun"`
	OK          int64 `parquet:"ok" json:"ok"`
	Failed      int64 `parquet:"failed" json:"failed"`
	TimedOut    int64 `parquet:"timed_out" json:"timed_out"`
	Cancelled   int64 `parquet:"cancelled" json:"cancelled"`
	Dropped     int64 `parquet:"dropped" json:"dropped"`
	Skipped     int64 `parquet:"skipped" json:"skipped"`
	BytesIn     int64 `parquet:"bytes_in" json:"bytes_in"`
	BytesOut    int64 `parquet:"bytes_out" json:"bytes_out"`
	ActiveUsers int64 `parquet:"active_users" json:"active_users"`
	P50         int64 `parquet:"p50_ns" json:"p50_ns"`
	P90         int64 `parquet:"p90_ns" json:"p90_ns"`
	P95         int64 `parquet:"p95_ns" json:"p95_ns"`
	P99         int64 `parquet:"p99_ns" json:"p99_ns"`
	P999        int64 `parquet:"p999_ns" json:"p999_ns"`
	Min         int64 `parquet:"min_ns" json:"min_ns"`
	Max         int64 `parquet:"max_ns" json:"max_ns"`
	Sum         int64 `parquet:"sum_ns" json:"sum_ns"`

	BucketNS    []int64  `parquet:"bucket_ns,list" json:"bucket_ns"`
	BucketCount []int64  `parquet:"bucket_count,list" json:"bucket_count"`
	StatusName  []string `parquet:"status_name,list" json:"status_name"`
	StatusCount []int64  `parquet:"status_count,list" json:"status_count"`
	ErrorName   []string `parquet:"error_name,list" json:"error_name"`
	ErrorCount  []int64  `parquet:"error_count,list" json:"error_count"`
	TagName     []string `parquet:"tag_name,list" json:"tag_name"`
	TagValue    []string `parquet:"tag_value,list" json:"tag_value"`

	Expression string   `parquet:"expression" json:"expression"`
	Of         string   `parquet:"of" json:"of"`
	Float      float64  `parquet:"value" json:"-"`
	Value      *float64 `parquet:"-" json:"value"`
	Met        bool     `parquet:"met" json:"met"`
	Sequence   int64    `parquet:"sequence" json:"sequence"`
	Event      string   `parquet:"event" json:"event"`
	Subject    string   `parquet:"subject" json:"subject"`
	Detail     string   `parquet:"detail" json:"detail"`

	Ended        int64  `parquet:"ended,timestamp(millisecond)" json:"ended"`
	Outcome      string `parquet:"outcome" json:"outcome"`
	Program      string `parquet:"program_digest" json:"program_digest"`
	By           string `parquet:"hyperscale_version" json:"hyperscale_version"`
	Saturated    bool   `parquet:"saturated" json:"saturated"`
	ThresholdsOK bool   `parquet:"thresholds_ok" json:"thresholds_ok"`
	Requests     int64  `parquet:"requests" json:"requests"`
	Lost         int64  `parquet:"lost_requests" json:"lost_requests"`
}

func main() {
	out := json.NewEncoder(os.Stdout)
	for _, name := range os.Args[1:] {
		rows, err := parquet.ReadFile[Row](name)
		if err != nil {
			log.Fatal(fmt.Errorf("%s: %w", name, err))
		}
		for i := range rows {
			if v := rows[i].Float; !math.IsNaN(v) {
				rows[i].Value = &v
			}
			if err := out.Encode(&rows[i]); err != nil {
				log.Fatal(err)
			}
		}
	}
}
