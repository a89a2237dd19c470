// Command datadog is a double of Datadog's API for metrics, for tests. It reads distributions with the models of
// datadog-api-client-go, whose client for version 1 must have passed before it prints its address: with its key, and in vain
// with another. Its package for version 2, which needs 5 GB to compile, has no part in this: series are read as its models
// MetricPayload, MetricSeries and MetricPoint have them. Key dd-key. Tags are kept as Datadog keeps them. Its second address is a page of all points.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode"

	"github.com/DataDog/datadog-api-client-go/v2/api/datadog"
	"github.com/DataDog/datadog-api-client-go/v2/api/datadogV1"

	"hyperscale/bench/vendors/double"
)

const (
	key      = "dd-key"
	sentMax  = 512_000
	plainMax = 5 << 20
)

// errShape says that a request has what the client's models do not know.
var errShape = errors.New("the client's model does not know this")

type service struct{ store double.Store }

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("DD-API-KEY") != key {
		double.Refuse(w, http.StatusForbidden, "Forbidden")
		return
	}
	body, err := double.Body(r, sentMax, plainMax)
	if errors.Is(err, double.ErrLarge) {
		double.Refuse(w, http.StatusRequestEntityTooLarge, "Payload too large")
		return
	}
	status, answer := http.StatusAccepted, `{"errors":[]}`
	switch {
	case err != nil:
	case r.Method == http.MethodGet && r.URL.Path == "/api/v1/validate":
		status, answer = http.StatusOK, `{"valid":true}`
	case r.Method == http.MethodPost && r.URL.Path == "/api/v2/series":
		err = s.series(body)
	case r.Method == http.MethodPost && r.URL.Path == "/api/v1/distribution_points":
		answer = `{"status":"ok"}`
		err = s.distributions(r, body)
	default:
		double.Refuse(w, http.StatusNotFound, "Not found")
		return
	}
	if err != nil {
		double.Refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(answer))
}

// payload is the body of /api/v2/series.
type payload struct {
	Series []struct {
		Metric         string `json:"metric"`
		Type           *int   `json:"type"`
		Interval       int64  `json:"interval"`
		Unit           string `json:"unit"`
		SourceTypeName string `json:"source_type_name"`
		Points         []struct {
			Timestamp *int64   `json:"timestamp"`
			Value     *float64 `json:"value"`
		} `json:"points"`
		Tags []string `json:"tags"`
	} `json:"series"`
}

func (s *service) series(body []byte) error {
	var got payload
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&got); err != nil {
		return err
	}
	if len(got.Series) == 0 {
		return errShape
	}
	var all []any
	for _, one := range got.Series {
		if len(one.Points) == 0 || one.Type == nil || *one.Type < 0 || *one.Type > 3 || (*one.Type == 1 || *one.Type == 2) && one.Interval <= 0 {
			return errShape
		}
		labels, err := labelsOf(one.Metric, one.Tags)
		if err != nil {
			return err
		}
		for _, p := range one.Points {
			if p.Timestamp == nil || p.Value == nil {
				return errShape
			}
			all = append(all, double.Point{Name: one.Metric, Type: fmt.Sprint(*one.Type), Labels: labels, Nanos: *p.Timestamp * 1e9, Width: one.Interval * 1e9, Value: *p.Value})
		}
	}
	s.store.Add(all...)
	return nil
}

func (s *service) distributions(r *http.Request, body []byte) error {
	if coding := r.Header.Get("Content-Encoding"); coding != "" && coding != string(datadogV1.DISTRIBUTIONPOINTSCONTENTENCODING_DEFLATE) {
		return fmt.Errorf("content encoding %q", coding)
	}
	var got datadogV1.DistributionPointsPayload
	if err := json.Unmarshal(body, &got); err != nil {
		return err
	}
	if got.UnparsedObject != nil || len(got.AdditionalProperties) > 0 || len(got.Series) == 0 {
		return errShape
	}
	var all []any
	for _, one := range got.Series {
		if one.UnparsedObject != nil || len(one.AdditionalProperties) > 0 || one.Type != nil && !one.Type.IsValid() {
			return errShape
		}
		labels, err := labelsOf(one.Metric, one.Tags)
		if err != nil {
			return err
		}
		for _, p := range one.Points {
			if len(p) != 2 || p[0].DistributionPointTimestamp == nil || p[1].DistributionPointData == nil {
				return errShape
			}
			all = append(all, double.Point{Name: one.Metric, Type: "distribution", Labels: labels, Nanos: int64(*p[0].DistributionPointTimestamp) * 1e9, Values: *p[1].DistributionPointData})
		}
	}
	s.store.Add(all...)
	return nil
}

// labelsOf are tags as the service keeps them: small letters, at most 200 characters, underscores for what it does not know.
func labelsOf(metric string, tags []string) (map[string]string, error) {
	if len(metric) > 200 || strings.Trim(metric, "abcdefghijklmnopqrstuvwxyz._") != "" || len(tags) > 100 {
		return nil, fmt.Errorf("metric %q with %d tags", metric, len(tags))
	}
	out := map[string]string{}
	for _, tag := range tags {
		if !unicode.IsLetter([]rune(tag)[0]) {
			continue // the service leaves it out
		}
		tag = strings.Map(func(r rune) rune {
			if unicode.IsLetter(r) || unicode.IsNumber(r) || strings.ContainsRune("_-:./", r) {
				return unicode.ToLower(r)
			}
			return '_'
		}, tag)
		for strings.Contains(tag, "__") {
			tag = strings.ReplaceAll(tag, "__", "_")
		}
		if runes := []rune(tag); len(runes) > 200 {
			tag = string(runes[:200])
		}
		name, value, _ := strings.Cut(strings.TrimRight(tag, "_"), ":")
		out[name] = value
	}
	return out, nil
}

// judge lets the vendor's client pass.
func judge(s *service) func(address string) error {
	return func(address string) error {
		for _, k := range []string{key, "another"} {
			ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
			defer cancel()
			ctx = context.WithValue(ctx, datadog.ContextAPIKeys, map[string]datadog.APIKey{"apiKeyAuth": {Key: k}})
			c := datadog.NewConfiguration()
			c.Servers = datadog.ServerConfigurations{{URL: "http://" + address}}
			c.OperationServers = nil
			client := datadog.NewAPIClient(c)
			now := float64(time.Now().Unix())
			_, _, also := datadogV1.NewMetricsApi(client).SubmitDistributionPoints(ctx, datadogV1.DistributionPointsPayload{Series: []datadogV1.DistributionPointsSeries{{
				Metric: "judge.distribution", Points: [][]datadogV1.DistributionPointItem{{{DistributionPointTimestamp: &now}, {DistributionPointData: &[]float64{1, 2}}}},
			}}}, *datadogV1.NewSubmitDistributionPointsOptionalParameters().WithContentEncoding(datadogV1.DISTRIBUTIONPOINTSCONTENTENCODING_DEFLATE))
			valid, _, asked := datadogV1.NewAuthenticationApi(client).Validate(ctx)
			if k != key {
				if also == nil || asked == nil {
					return errors.New("the client passed with a wrong key")
				}
				continue
			}
			if err := errors.Join(also, asked); err != nil || !valid.GetValid() {
				return fmt.Errorf("the vendor's client: %w", err)
			}
		}
		if all := s.store.Take(); len(all) != 1 {
			return fmt.Errorf("the vendor's client left %d points", len(all))
		}
		return nil
	}
}

func main() {
	s := &service{}
	double.Main(s, &s.store, judge(s))
}
