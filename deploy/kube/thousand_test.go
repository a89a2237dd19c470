package kube

import (
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"hyperscale/deploy/kube/controlplane"
)

// TestThousandLoadTests: both operators together ask the API server at most 20 times in any second, and each object gets one job.
func TestThousandLoadTests(t *testing.T) {
	thousand := 1000
	if text := os.Getenv("HYPERSCALE_KUBE_LOADTESTS"); text != "" {
		var err error
		if thousand, err = strconv.Atoi(text); err != nil {
			t.Fatalf("HYPERSCALE_KUBE_LOADTESTS=%s: %v: want a number like 100", text, err)
		}
	}
	b := newBench(t, 2)
	text := ""
	for i := range thousand {
		text += b.loadTest(fmt.Sprintf("t%04d", i), "1s")
	}
	began := time.Now()
	b.Apply(t, text)
	t.Logf("%d load tests applied after %v", thousand, time.Since(began).Round(time.Second))
	ended, submitted := 0, 0
	for end := time.Now().Add(20 * time.Minute); ended < thousand && time.Now().Before(end); time.Sleep(5 * time.Second) {
		ended, submitted = 0, 0
		for name, all := range b.cell.jobs(t) {
			submitted++
			if len(all) != 1 {
				t.Fatalf("%s has jobs %v, want one", name, all)
			}
			if all[0].State == "COMPLETED" {
				ended++
			}
		}
	}
	all := b.Audit(t, user)
	most := controlplane.MostIn(all, time.Second)
	t.Logf("after %v: %d submitted, %d ended; %d requests, at most %d in a second", time.Since(began).Round(time.Second), submitted, ended, len(all), most)
	if most > pace {
		t.Errorf("%d requests in a second, want %d", most, pace)
	}
	if ended < thousand {
		t.Errorf("%d of %d load tests have ended", ended, thousand)
	}
	b.rightful(t)
}
