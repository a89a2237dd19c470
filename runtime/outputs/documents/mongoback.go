package documents

import (
	"context"
	"encoding/json"
	"fmt"

	"hyperscale/core/workflow/bson"
	"hyperscale/runtime/outputs"
	"hyperscale/runtime/protocol/mongodb"
)

// readMongo reads the rows of a job, whose ids begin with it.
func readMongo(s *outputs.Settings, job string) ([]outputs.Row, error) {
	at, err := mongoOf(s)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), readMax)
	defer cancel()
	c, err := at.open(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s", mongoText(err))
	}
	defer c.Close()
	command := fmt.Sprintf(`{"find":%s,"filter":{"_id":{"$gte":%s,"$lt":%s}}}`, quote(at.collection), quote(job+"/"), quote(job+"0")) // 0 is behind /
	body, _, answer, err := at.ask(ctx, c, command, func(t *bson.Template) *mongodb.Operation { return mongodb.Find(t, mongodb.Cursor{}) })
	if err == nil {
		err = answer
	}
	if err != nil {
		return nil, fmt.Errorf("%s", mongoText(err))
	}
	return parseMongo(body)
}

// parseMongo reads documents as relaxed extended JSON.
func parseMongo(body []byte) (rows []outputs.Row, err error) {
	var all []map[string]json.RawMessage
	if err := json.Unmarshal(body, &all); err != nil {
		return nil, fmt.Errorf("the documents: %w", err)
	}
	for _, of := range all {
		for _, name := range mongoLists {
			if raw, has := of[name]; has {
				if of[name], err = objectOf(raw); err != nil {
					return nil, fmt.Errorf("field %s of a document: %w", name, err)
				}
			}
		}
		var wide struct {
			N json.RawMessage `json:"$numberDecimal"`
		}
		if json.Unmarshal(of["sum_ns"], &wide) == nil && len(wide.N) > 2 {
			of["sum_ns"] = wide.N[1 : len(wide.N)-1]
		}
		line, err := json.Marshal(of)
		if err != nil {
			return nil, fmt.Errorf("a document: %w", err)
		}
		r, err := outputs.ParseJSON(line)
		if err != nil {
			return nil, fmt.Errorf("a document: %w", err)
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// objectOf makes an object of a list of {k, v}.
func objectOf(raw json.RawMessage) (json.RawMessage, error) {
	var members []struct {
		K string
		V json.RawMessage
	}
	if err := json.Unmarshal(raw, &members); err != nil {
		return nil, err
	}
	of := map[string]json.RawMessage{}
	for _, m := range members {
		of[m.K] = m.V
	}
	return json.Marshal(of)
}
