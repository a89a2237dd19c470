package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"

	"cloud.google.com/go/bigquery"
	"golang.org/x/oauth2/google"
	"google.golang.org/api/googleapi"
	"google.golang.org/api/option"
)

const (
	dataset  = "load"
	loadsMax = 1500 // of a table and day
	rowMax   = 100 << 20
)

type field struct {
	Name, Type, Mode string
	Fields           []field
}

type table struct {
	about map[string]any
	field []field
	rows  []json.RawMessage
	loads int
}

type load struct {
	resource map[string]any
	table    string
	lines    []byte
	at       time.Time
	over     bool
}

// warehouse is a double of BigQuery's API: tables, load jobs, and queries that are not run.
type warehouse struct {
	authority *authority
	mu        sync.Mutex
	tables    map[string]*table
	jobs      map[string]*load
	fails     []string // reasons of the next jobs
}

var jobIDs = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)

func (q *warehouse) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if status, reason := q.authority.allows(r, "bigquery", "cloud-platform"); status != http.StatusOK {
		fail(w, status, reason, "the double says so")
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	path := strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, "/upload"), "/bigquery/v2/projects/")
	parts := strings.Split(path, "/")
	switch {
	case parts[0] != project:
		fail(w, http.StatusForbidden, "accessDenied", "Access Denied: Project "+parts[0])
	case strings.HasPrefix(r.URL.Path, "/upload/") && path == project+"/jobs" && r.Method == http.MethodPost:
		q.insert(w, r)
	case len(parts) == 3 && parts[1] == "jobs" && r.Method == http.MethodGet:
		j := q.jobs[parts[2]]
		if j == nil {
			fail(w, http.StatusNotFound, "notFound", "Not found: Job "+parts[2])
			return
		}
		q.end(j)
		answer(w, j.resource)
	case path == project+"/queries" && r.Method == http.MethodPost:
		var in struct{ DryRun bool }
		if json.NewDecoder(r.Body).Decode(&in) != nil || !in.DryRun {
			fail(w, http.StatusNotImplemented, "notImplemented", "the double runs no query")
			return
		}
		answer(w, map[string]any{"kind": "bigquery#queryResponse", "jobComplete": true, "totalBytesProcessed": "0"})
	case len(parts) >= 4 && parts[1] == "datasets" && parts[2] != dataset:
		fail(w, http.StatusNotFound, "notFound", "Not found: Dataset "+parts[2])
	case len(parts) == 4 && parts[3] == "tables" && r.Method == http.MethodPost:
		q.create(w, r)
	case len(parts) == 5 && parts[3] == "tables" && r.Method == http.MethodGet:
		t := q.tables[parts[4]]
		if t == nil {
			fail(w, http.StatusNotFound, "notFound", "Not found: Table "+parts[4])
			return
		}
		answer(w, t.about)
	default:
		fail(w, http.StatusNotFound, "notFound", "no such operation")
	}
}

func (q *warehouse) create(w http.ResponseWriter, r *http.Request) {
	b, err := io.ReadAll(r.Body)
	var in struct {
		TableReference struct{ TableID string }
		Schema         struct{ Fields []field }
	}
	about := map[string]any{}
	if err != nil || json.Unmarshal(b, &in) != nil || json.Unmarshal(b, &about) != nil || in.TableReference.TableID == "" || len(in.Schema.Fields) == 0 {
		fail(w, http.StatusBadRequest, "invalid", "no table")
		return
	}
	if q.tables[in.TableReference.TableID] != nil {
		fail(w, http.StatusConflict, "duplicate", "Already Exists: Table")
		return
	}
	q.tables[in.TableReference.TableID] = &table{about: about, field: in.Schema.Fields}
	answer(w, about)
}

func (q *warehouse) insert(w http.ResponseWriter, r *http.Request) {
	_, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || r.URL.Query().Get("uploadType") != "multipart" {
		fail(w, http.StatusBadRequest, "invalid", fmt.Sprint("no multipart: ", err))
		return
	}
	in := multipart.NewReader(r.Body, params["boundary"])
	about, err := in.NextPart()
	if err != nil {
		fail(w, http.StatusBadRequest, "invalid", err.Error())
		return
	}
	var asked struct {
		JobReference  struct{ ProjectID, JobID string }
		Configuration struct {
			Load struct {
				DestinationTable                                  struct{ DatasetID, TableID string }
				SourceFormat, WriteDisposition, CreateDisposition string
			}
		}
	}
	b, err := io.ReadAll(about)
	resource := map[string]any{}
	if err != nil || json.Unmarshal(b, &asked) != nil || json.Unmarshal(b, &resource) != nil || !jobIDs.MatchString(asked.JobReference.JobID) || len(asked.JobReference.JobID) > 1024 {
		fail(w, http.StatusBadRequest, "invalid", "no job")
		return
	}
	media, err := in.NextPart()
	if err != nil {
		fail(w, http.StatusBadRequest, "invalid", err.Error())
		return
	}
	lines, err := io.ReadAll(media)
	if err != nil {
		fail(w, http.StatusBadRequest, "invalid", err.Error())
		return
	}
	id := asked.JobReference.JobID
	if q.jobs[id] != nil {
		fail(w, http.StatusConflict, "duplicate", "Already Exists: Job "+project+":EU."+id)
		return
	}
	how := asked.Configuration.Load
	if how.SourceFormat != "NEWLINE_DELIMITED_JSON" || how.WriteDisposition != "" && how.WriteDisposition != "WRITE_APPEND" {
		fail(w, http.StatusNotImplemented, "notImplemented", "the double appends lines of JSON")
		return
	}
	resource["kind"], resource["id"] = "bigquery#job", project+":EU."+id
	resource["jobReference"] = map[string]string{"projectId": project, "jobId": id, "location": "EU"}
	resource["status"] = map[string]any{"state": "PENDING"}
	q.jobs[id] = &load{resource: resource, table: how.DestinationTable.TableID, lines: lines, at: time.Now()}
	answer(w, resource)
}

// end moves a job on: it waits, it runs, and then it has loaded all rows or none.
func (q *warehouse) end(j *load) {
	switch since := time.Since(j.at); {
	case j.over:
	case since < 10*time.Millisecond:
		j.resource["status"] = map[string]any{"state": "RUNNING"}
	default:
		j.over = true
		status := map[string]any{"state": "DONE"}
		if reason, message := q.run(j); reason != "" {
			e := map[string]string{"reason": reason, "message": message}
			status["errorResult"], status["errors"] = e, []any{e}
		}
		j.resource["status"] = status
	}
}

func (q *warehouse) run(j *load) (reason, message string) {
	if len(q.fails) > 0 {
		reason, q.fails = q.fails[0], q.fails[1:]
		return reason, "the double says so"
	}
	t := q.tables[j.table]
	if t == nil {
		return "notFound", "Not found: Table " + j.table
	}
	if t.loads++; t.loads > loadsMax {
		return "quotaExceeded", "Your table exceeded quota for imports or query appends per table."
	}
	var rows []json.RawMessage
	in := bufio.NewScanner(bytes.NewReader(j.lines))
	in.Buffer(nil, rowMax)
	for in.Scan() {
		if len(bytes.TrimSpace(in.Bytes())) == 0 {
			continue
		}
		var row map[string]any
		d := json.NewDecoder(bytes.NewReader(in.Bytes()))
		d.UseNumber()
		if err := d.Decode(&row); err != nil {
			return "invalid", "Error while reading data: " + err.Error()
		}
		if err := fits(row, t.field); err != nil {
			return "invalid", "Error while reading data: " + err.Error()
		}
		rows = append(rows, bytes.Clone(in.Bytes()))
	}
	if err := in.Err(); err != nil {
		return "invalid", err.Error()
	}
	t.rows = append(t.rows, rows...)
	return "", ""
}

// fits says that each field of a row is a column, with a value of its type.
func fits(row map[string]any, columns []field) error {
next:
	for name, value := range row {
		for _, c := range columns {
			if !strings.EqualFold(c.Name, name) {
				continue
			}
			values := []any{value}
			if c.Mode == "REPEATED" {
				all, ok := value.([]any)
				if !ok {
					return fmt.Errorf("%s is no array", name)
				}
				values = all
			}
			for _, v := range values {
				if err := valueFits(v, &c); err != nil {
					return err
				}
			}
			continue next
		}
		return fmt.Errorf("no such field: %s", name)
	}
	return nil
}

func valueFits(v any, c *field) error {
	ok := v == nil && c.Mode != "REPEATED"
	switch c.Type {
	case "STRING":
		_, is := v.(string)
		ok = ok || is
	case "TIMESTAMP":
		text, is := v.(string)
		_, err := time.Parse("2006-01-02T15:04:05.999999Z", text)
		ok = ok || is && err == nil
	case "BOOLEAN":
		_, is := v.(bool)
		ok = ok || is
	case "INTEGER":
		n, is := v.(json.Number)
		_, err := n.Int64()
		ok = ok || is && err == nil
	case "FLOAT", "NUMERIC":
		_, is := v.(json.Number)
		ok = ok || is
	case "RECORD":
		inner, is := v.(map[string]any)
		if is {
			return fits(inner, c.Fields)
		}
	}
	if !ok {
		return fmt.Errorf("could not convert %v to %s of field %s", v, c.Type, c.Name)
	}
	return nil
}

// page shows what is loaded, and lets jobs fail.
func (q *warehouse) page(w http.ResponseWriter, r *http.Request) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, j := range q.jobs {
		j.at = time.Time{} // those that nobody has asked for end as well
		q.end(j)
	}
	switch r.URL.Path {
	case "/rows":
		for _, t := range q.tables {
			for _, row := range t.rows {
				fmt.Fprintf(w, "%s\n", row)
			}
		}
	case "/jobs":
		fmt.Fprint(w, len(q.jobs))
	case "/fails":
		q.fails = strings.Split(r.FormValue("reasons"), ",")
	}
}

// judge lets the vendor's client create a table, load it, start a job twice, and see one fail.
func (q *warehouse) judge(address string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	credentials, err := google.JWTConfigFromJSON(q.authority.account(), "https://www.googleapis.com/auth/bigquery")
	if err != nil {
		return err
	}
	c, err := bigquery.NewClient(ctx, project, option.WithEndpoint("http://"+address+"/bigquery/v2/"), option.WithTokenSource(credentials.TokenSource(ctx)))
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	to := c.Dataset(dataset).Table("judged")
	if err := to.Create(ctx, &bigquery.TableMetadata{Schema: bigquery.Schema{{Name: "a", Type: bigquery.IntegerFieldType}, {Name: "b", Type: bigquery.StringFieldType, Repeated: true}}}); err != nil {
		return fmt.Errorf("the vendor's client creates: %w", err)
	}
	if about, err := to.Metadata(ctx); err != nil || len(about.Schema) != 2 || !about.Schema[1].Repeated {
		return fmt.Errorf("the vendor's client reads the table: %v, %w", about, err)
	}
	run := func(id, lines string) (*bigquery.JobStatus, error) {
		from := bigquery.NewReaderSource(strings.NewReader(lines))
		from.SourceFormat = bigquery.JSON
		loader := to.LoaderFrom(from)
		loader.JobID = id
		job, err := loader.Run(ctx)
		if err != nil {
			return nil, err
		}
		return job.Wait(ctx)
	}
	if status, err := run("one", "{\"a\":1,\"b\":[\"x\"]}\n{\"a\":2}\n"); err != nil || status.Err() != nil {
		return fmt.Errorf("the vendor's client loads: %v, %w", status, err)
	}
	var said *googleapi.Error
	if _, err := run("one", `{"a":1}`); !errors.As(err, &said) || said.Code != http.StatusConflict {
		return fmt.Errorf("the vendor's client loads twice: %v", err)
	}
	if status, err := run("two", "{\"a\":1}\n{\"c\":1}\n"); err != nil || status.Err() == nil {
		return fmt.Errorf("the vendor's client loads a field that is none: %v, %v", status, err)
	}
	if n := len(q.tables["judged"].rows); n != 2 {
		return fmt.Errorf("%d rows of the vendor's client", n)
	}
	return nil
}
