package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"sort"
	"strconv"
)

// Limits of WriteRecords, by the page of quotas.
const (
	recordsMax  = 100
	measuresMax = 256
	pairMax     = 2048
	textMax     = 2048
	nameMax     = 256
)

type dimension struct{ Name, Value, DimensionValueType string }

type measure struct{ Name, Value, Type string }

type record struct {
	Dimensions                []dimension
	MeasureName, MeasureValue string
	MeasureValueType          string
	MeasureValues             []measure
	Time, TimeUnit            string
	Version                   int64
}

// kept is the newest record of a key.
type kept struct {
	Version  int64
	Measures string
}

// Row is what the page shows of a record.
type Row struct {
	Kind, Time string
	Version    int64
	Dimensions map[string]string
	Measures   map[string]string
}

func (s *service) timestream(w http.ResponseWriter, r *http.Request, operation string, body []byte) {
	if operation == "DescribeEndpoints" {
		_ = json.NewEncoder(w).Encode(map[string]any{"Endpoints": []any{map[string]any{"Address": r.Host, "CachePeriodInMinutes": 1440}}})
		return
	}
	var in struct {
		DatabaseName, TableName string
		CommonAttributes        *record
		Records                 []record
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil {
		refuse(w, http.StatusBadRequest, "SerializationException", err.Error())
		return
	}
	if in.DatabaseName != "load" || in.TableName != "rows" {
		refuse(w, http.StatusBadRequest, "ResourceNotFoundException", "The table does not exist.")
		return
	}
	if operation == "DescribeTable" {
		_ = json.NewEncoder(w).Encode(map[string]any{"Table": map[string]any{"DatabaseName": in.DatabaseName, "TableName": in.TableName, "TableStatus": "ACTIVE"}})
		return
	}
	if operation != "WriteRecords" || len(in.Records) == 0 || len(in.Records) > recordsMax {
		refuse(w, http.StatusBadRequest, "ValidationException", fmt.Sprint(operation, " of ", len(in.Records), " records"))
		return
	}
	s.write(w, in.Records)
}

func (s *service) write(w http.ResponseWriter, records []record) {
	type rejected struct {
		RecordIndex     int
		Reason          string
		ExistingVersion *int64 `json:",omitempty"`
	}
	var all []rejected
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, one := range records {
		row, key, why := one.read()
		if why != "" {
			all = append(all, rejected{RecordIndex: i, Reason: why})
			continue
		}
		measures, _ := json.Marshal(row.Measures)
		was, found := s.records[key]
		switch {
		case found && was.Version == one.Version && was.Measures == string(measures):
			continue // the same again
		case found && was.Version >= one.Version:
			all = append(all, rejected{i, "A record with a higher version exists", &was.Version})
			continue
		}
		s.records[key] = kept{one.Version, string(measures)}
		s.store.Add(row)
	}
	if len(all) > 0 {
		w.Header().Set("X-Amzn-Errortype", "RejectedRecordsException")
		w.WriteHeader(419)
		_ = json.NewEncoder(w).Encode(map[string]any{"__type": "com.amazonaws.timestream.v20181101#RejectedRecordsException", "Message": "One or more records have been rejected.", "RejectedRecords": all})
		return
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"RecordsIngested": map[string]int{"Total": len(records)}})
}

// read judges a record, and returns its key.
func (r *record) read() (row Row, key, why string) {
	row = Row{Kind: r.MeasureName, Time: r.Time, Version: r.Version, Dimensions: map[string]string{}, Measures: map[string]string{}}
	if r.MeasureName == "" || r.MeasureValueType != "MULTI" || r.TimeUnit != "MILLISECONDS" || r.Version < 1 || len(r.Dimensions) == 0 {
		return row, "", "the record is not whole"
	}
	if _, err := strconv.ParseInt(r.Time, 10, 64); err != nil {
		return row, "", "time"
	}
	for _, d := range r.Dimensions {
		if d.Name == "" || d.Value == "" || len(d.Name)+len(d.Value) > pairMax || len(d.Name) > 60 || row.Dimensions[d.Name] != "" {
			return row, "", fmt.Sprintf("dimension %q = %q", d.Name, d.Value)
		}
		row.Dimensions[d.Name] = d.Value
	}
	if len(r.MeasureValues) == 0 || len(r.MeasureValues) > measuresMax {
		return row, "", fmt.Sprintf("%d measures", len(r.MeasureValues))
	}
	for _, m := range r.MeasureValues {
		var err error
		switch m.Type {
		case "BIGINT":
			_, err = strconv.ParseInt(m.Value, 10, 64)
		case "DOUBLE":
			_, err = strconv.ParseFloat(m.Value, 64)
		case "BOOLEAN":
			_, err = strconv.ParseBool(m.Value)
		case "VARCHAR":
		default:
			err = fmt.Errorf("type %q", m.Type)
		}
		if _, twice := row.Measures[m.Name]; err != nil || twice || m.Name == "" || len(m.Name) > nameMax || m.Value == "" || len(m.Value) > textMax {
			return row, "", fmt.Sprintf("measure %q = %q", m.Name, m.Value)
		}
		row.Measures[m.Name] = m.Value
	}
	var names []string
	for name := range row.Dimensions {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		key += fmt.Sprintf("%q=%q ", name, row.Dimensions[name])
	}
	return row, key + r.MeasureName + r.Time, ""
}
