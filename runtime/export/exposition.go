package export

import (
	"bytes"
	"fmt"

	"github.com/prometheus/common/expfmt"

	"hyperscale/runtime/report"
)

// Prometheus writes the text that node_exporter's textfile collector and every
// scraper read.
func Prometheus(r *report.Result) ([]byte, error) {
	var b bytes.Buffer
	for _, f := range Families(&Snapshot{Result: r}) {
		if _, err := expfmt.MetricFamilyToText(&b, f); err != nil {
			return nil, fmt.Errorf("encode the result as Prometheus' text: %w", err)
		}
	}
	return b.Bytes(), nil
}
