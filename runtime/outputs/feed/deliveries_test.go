package feed

import (
	"context"
	"sync"
	"testing"
	"time"

	"hyperscale/core/output/outputtest"
	"hyperscale/runtime/outputs"
	"hyperscale/runtime/report"
)

// keeper is a sink that keeps rows, once it may.
type keeper struct {
	may chan struct{}
	mu  sync.Mutex
	all []outputs.Row
}

func (k *keeper) Check(context.Context) error { return nil }
func (k *keeper) Close()                      {}
func (k *keeper) Deliver(_ context.Context, b outputs.Batch) outputs.Outcome {
	<-k.may
	k.mu.Lock()
	defer k.mu.Unlock()
	k.all = append(k.all, b.Rows...)
	return outputs.Delivered()
}

// OUTFEED-1: Apply returns while a sink hangs, and what statuses were left out changes no sum.
func TestDeliveries(t *testing.T) {
	var d Deliveries
	keepers := map[string]*keeper{"10s": {may: make(chan struct{})}, "60s": {may: make(chan struct{})}, "sums": {may: make(chan struct{})}}
	for name, window := range map[string]string{"10s": "10s", "60s": "60s", "sums": "10s"} {
		s, err := outputs.Parse(&outputs.Kind{Name: "keeper", Delivery: outputs.Exact, Sums: name == "sums"}, "x,window="+window)
		if err != nil {
			t.Fatal(err)
		}
		d.Add(outputs.NewShell(name, s, keepers[name], outputs.DefaultPace()), s.Window())
	}
	defer d.Close()
	for i := range 200 {
		d.Apply(outputtest.Status(time.Duration(i)*time.Second, nil, uint64(i*10)))
	}
	for _, k := range keepers {
		close(k.may)
	}
	r := outputtest.Result(201*time.Second, nil, 2000)
	built, err := report.Build(r, time.Unix(1000, 0))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, o := range d.Finish(ctx, r, built) {
		if !o.Whole() || o.Rows == 0 {
			t.Errorf("%+v", o)
		}
	}
	for name, k := range keepers {
		last := uint64(0)
		for i := range k.all {
			r := &k.all[i]
			if sums := name == "sums" && r.Kind == outputs.RowWindow; (r.Sum != nil) != sums {
				t.Fatalf("%s: %s has sums: %v", name, r.Key(), r.Sum != nil)
			}
			if r.Sum != nil && r.Datacenter == "" {
				last = r.Sum.Begun
			}
		}
		if name == "sums" && last != 2000 {
			t.Errorf("the last sum is %d", last)
		}
		all := outputs.Verify(k.all)
		if !all.Whole() || all.Requests != 2000 {
			t.Errorf("%s: %+v", name, all)
		}
		for _, v := range all.Steps {
			if !v.Whole || v.Begun != 2000 {
				t.Errorf("%s: %+v", name, v)
			}
		}
	}
}

// A command that leaves a job delivers the rows so far, and reports on them.
func TestLeave(t *testing.T) {
	var d Deliveries
	k := &keeper{may: make(chan struct{})}
	close(k.may)
	s, err := outputs.Parse(&outputs.Kind{Name: "keeper", Delivery: outputs.Exact, Limits: outputs.Limits{Age: time.Hour}}, "x")
	if err != nil {
		t.Fatal(err)
	}
	d.Add(outputs.NewShell("x", s, k, outputs.DefaultPace()), s.Window())
	defer d.Close()
	d.Apply(outputtest.Status(11*time.Second, nil, 100))
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	reports := d.Leave(ctx)
	if len(reports) != 1 || reports[0].Delivered != 3 || !reports[0].Whole() || len(k.all) != 3 {
		t.Errorf("%+v", reports)
	}
}
