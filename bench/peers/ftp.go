package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/jlaffaye/ftp"
)

const (
	ftpConnections = 16
	ftpSize        = 4 << 10
	ftpPassword    = "bench@load.test"
)

// startVSFTPD starts a vsftpd of the anonymous user, whose xferlog counts the files that were read.
func startVSFTPD(dir string, cpus []int) (*server, error) {
	const program = "/usr/sbin/vsftpd"
	if _, err := os.Stat(program); err != nil {
		return nil, errors.New("vsftpd is missing: apt-get install vsftpd")
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	at := func(name string) string { return filepath.Join(dir, "vsftpd."+name) }
	s := &server{Address: free.Addr().String()}
	if err := free.Close(); err != nil {
		return nil, err
	}
	_, port, _ := net.SplitHostPort(s.Address)
	config := fmt.Sprintf("listen=YES\nlisten_address=127.0.0.1\nlisten_port=%s\nbackground=NO\nrun_as_launching_user=YES\nanonymous_enable=YES\nanon_root=%s\nanon_world_readable_only=NO\nmax_clients=0\nmax_per_ip=0\nseccomp_sandbox=NO\nisolate=NO\nisolate_network=NO\nxferlog_enable=YES\nxferlog_std_format=YES\nxferlog_file=%s\n", port, dir, at("log"))
	for name, text := range map[string]string{"config": config, "log": "", "file": strings.Repeat("x", ftpSize)} {
		if err := os.WriteFile(at(name), []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	s.cmd = exec.Command(program, at("config"))
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := startOn(s.cmd, cpus); err != nil {
		return nil, err
	}
	s.count = func() (uint64, error) {
		b, err := os.ReadFile(at("log"))
		return uint64(bytes.Count(b, []byte("\n"))), err
	}
	for range 100 {
		if c, err := net.Dial("tcp", s.Address); err == nil {
			return s, c.Close()
		}
		time.Sleep(50 * time.Millisecond)
	}
	return nil, errors.Join(errors.New("vsftpd does not listen"), s.close())
}

// ftpLoop reads a file over jlaffaye/ftp, a goroutine for each connection.
func ftpLoop(c loopConfig) (requests, failures uint64, err error) {
	var all sync.WaitGroup
	var done, failed atomic.Uint64
	until := time.Now().Add(c.Duration)
	for range c.Connections {
		all.Go(func() {
			n, err := ftpReads(c.Address, until)
			if done.Add(n); err != nil {
				failed.Add(1)
			}
		})
	}
	all.Wait()
	return done.Load(), failed.Load(), nil
}

func ftpReads(address string, until time.Time) (n uint64, err error) {
	conn, err := ftp.Dial(address)
	if err != nil {
		return 0, err
	}
	defer func() { _ = conn.Quit() }()
	if err := conn.Login("anonymous", ftpPassword); err != nil {
		return 0, err
	}
	for ; n%16 != 0 || time.Now().Before(until); n++ {
		r, err := conn.Retr("vsftpd.file")
		if err != nil {
			return n, err
		}
		count, err := io.Copy(io.Discard, r)
		if err := errors.Join(err, r.Close()); err != nil || count != ftpSize {
			return n, errors.Join(err, fmt.Errorf("%d bytes", count))
		}
	}
	return n, nil
}

// ftp compares files that are read over FTP.
func (b *bench) ftp() error {
	s, err := startVSFTPD(b.dir, b.serverCPUs)
	if err != nil {
		b.report.remark(b.out, err.Error())
		return nil
	}
	defer func() { _ = s.close() }()
	step := fmt.Sprintf("step(\"get\", ftp.get(ftp.client(\"ftp://anonymous@%s\", password = %q, tls = \"never\"), \"vsftpd.file\"))", s.Address, ftpPassword)
	us, err := b.ours("ftp", 1, flow{Name: "ftp", Step: step, VUs: ftpConnections, Duration: b.duration})
	if err != nil {
		return err
	}
	peer, err := loopContender(loopConfig{Name: "ftp-loop", Address: s.Address, Connections: ftpConnections, Duration: b.duration})
	if err != nil {
		return err
	}
	all, err := b.floor([]contender{us, peer}, loopConfig{Name: "epoll-ftp", Address: s.Address, Connections: ftpConnections, Size: ftpSize})
	if err != nil {
		return err
	}
	rows := b.cost("ftp", fmt.Sprintf("%d connections, files of 4 KiB", ftpConnections), s, all)
	b.bars("0.7", rows, rival{"ftp-loop", 1 / 0.7})
	b.floorTold(rows, "epoll-ftp", rival{"ftp-loop", 1 / 0.7})
	return nil
}

func (b *bench) takesFTP() time.Duration { return b.turns(3*b.rounds, b.duration) }
