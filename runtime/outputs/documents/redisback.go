package documents

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/wire"
	"hyperscale/runtime/protocol/redis"
)

// Bounds of reading a job back.
const (
	readMax  = time.Minute
	scanRows = 1000 // names of one SSCAN
	readRows = 200  // rows of one pipeline
)

// readRedis reads the rows of a job. Those that have expired are not there.
func readRedis(s *outputs.Settings, job string) (rows []outputs.Row, err error) {
	at, err := redisOf(s)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), readMax)
	defer cancel()
	c, err := at.open(ctx)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	known := map[string]bool{} // a scan may name a row twice
	for cursor := "0"; ; {
		body, err := askOne(ctx, c, words("SSCAN", at.set(job), cursor, "COUNT", fmt.Sprint(scanRows)))
		if err != nil {
			return nil, err
		}
		next, names, err := parseScan(body)
		if err != nil {
			return nil, err
		}
		var fresh []redis.Command
		for _, name := range names {
			if !known[name] {
				known[name] = true
				fresh = append(fresh, words("HGET", at.set(job)+":"+name, "row"))
			}
		}
		for len(fresh) > 0 {
			n := min(len(fresh), readRows)
			body, err := askOne(ctx, c, fresh[:n]...)
			if err != nil {
				return nil, err
			}
			some, err := parseRows(body)
			if err != nil {
				return nil, err
			}
			rows, fresh = append(rows, some...), fresh[n:]
		}
		if cursor = next; cursor == "0" {
			return rows, nil
		}
	}
}

func askOne(ctx context.Context, c *wire.Conn, commands ...redis.Command) ([]byte, error) {
	body, _, answer, err := askRedis(ctx, c, commands)
	if err == nil {
		err = answer
	}
	return body, err
}

// parseScan reads the answer to one SSCAN.
func parseScan(body []byte) (next string, names []string, err error) {
	var answers [][2]json.RawMessage
	if err = json.Unmarshal(body, &answers); err == nil && len(answers) != 1 {
		err = fmt.Errorf("%d answers", len(answers))
	}
	if err == nil {
		err = json.Unmarshal(answers[0][0], &next)
	}
	if err == nil {
		err = json.Unmarshal(answers[0][1], &names)
	}
	if err == nil && next == "" {
		err = fmt.Errorf("it has no cursor")
	}
	if err != nil {
		return "", nil, fmt.Errorf("the answer to SSCAN: %w", err)
	}
	return next, names, nil
}

// parseRows reads the answers to a pipeline of HGET.
func parseRows(body []byte) (rows []outputs.Row, err error) {
	var texts []*string
	if err := json.Unmarshal(body, &texts); err != nil {
		return nil, fmt.Errorf("the answers to HGET: %w", err)
	}
	for _, text := range texts {
		if text == nil {
			continue // it has expired
		}
		r, err := outputs.ParseJSON([]byte(*text))
		if err != nil {
			return nil, fmt.Errorf("a hash of the job: %w", err)
		}
		rows = append(rows, r)
	}
	return rows, nil
}
