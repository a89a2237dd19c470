package serverstest

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hyperscale/runtime/protocol/hostile/hostiletest"
)

// ClickHouse starts a server with a database and a user with a password.
func ClickHouse(t testing.TB) (address string) {
	t.Helper()
	program, err := exec.LookPath("clickhouse-server")
	if err != nil {
		t.Skip("SKIPPED: clickhouse-server is not installed") // distributions since Debian 13 have none
	}
	address = hostiletest.FreeAddress(t)
	_, port, _ := net.SplitHostPort(address)
	_, other, _ := net.SplitHostPort(hostiletest.FreeAddress(t))
	folder := t.TempDir()
	config := fmt.Sprintf(`<yandex><logger><level>warning</level><console>1</console></logger><http_port>%s</http_port><tcp_port>%s</tcp_port><listen_host>127.0.0.1</listen_host>
<path>%[3]s/</path><tmp_path>%[3]s/tmp/</tmp_path><user_files_path>%[3]s/files/</user_files_path><format_schema_path>%[3]s/schemas/</format_schema_path><mark_cache_size>16777216</mark_cache_size><uncompressed_cache_size>16777216</uncompressed_cache_size>
<users_config>%[3]s/users.xml</users_config><default_profile>default</default_profile><default_database>default</default_database></yandex>`, port, other, folder)
	users := `<yandex><profiles><default><max_memory_usage>500000000</max_memory_usage><max_threads>2</max_threads></default></profiles><quotas><default></default></quotas>
<users><default><password></password><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></default>
<load><password>ch-secret</password><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></load></users></yandex>`
	for name, text := range map[string]string{"config.xml": config, "users.xml": users} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	Run(t, "http://"+address+"/ping", program, "--config-file="+folder+"/config.xml")
	a, err := http.Post("http://"+address+"/", "", strings.NewReader("CREATE DATABASE load"))
	if err != nil || a.StatusCode != http.StatusOK {
		t.Fatal(err, a)
	}
	_ = a.Body.Close()
	return address
}

// ClickHouseQuery asks the database load.
func ClickHouseQuery(t testing.TB, address, query string) string {
	t.Helper()
	a, err := http.Post("http://"+address+"/?database=load", "", strings.NewReader(query))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = a.Body.Close() }()
	b, err := io.ReadAll(a.Body)
	if err != nil || a.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s %v", query, b, err)
	}
	return string(b)
}
