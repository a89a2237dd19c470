# This job has never run on Nomad: a test parses it, and the binary checks its settings.
#
# It starts a worker on each client of Nomad. A worker that stops ends what it runs: set `max_kill_timeout` of the clients to an hour. Its
# ports differ from those of hyperscale.nomad.hcl, so both fit on one host; but load beside a gate slows the gate.
variable "image" {
  type    = string
  default = "hyperscale"
}

variable "datacenter" {
  type    = string
  default = "dc1"
}

variable "managers" {
  type    = string
  default = "10.0.0.1:7500,10.0.0.2:7500,10.0.0.3:7500"
}

job "hyperscale-workers" {
  type = "system"

  group "workers" {
    network {
      mode = "host"
      port "node" { static = 7600 }
      port "admin" { static = 9600 }
    }

    task "worker" {
      driver       = "docker"
      kill_signal  = "SIGTERM"
      kill_timeout = "1h"

      config {
        image        = var.image
        network_mode = "host"
        args = [
          "worker", "--id=worker-${node.unique.name}", "--listen=0.0.0.0:7600", "--advertise=${attr.unique.network.ip-address}:7600",
          "--admin=0.0.0.0:9600", "--data=${NOMAD_ALLOC_DIR}/data",
        ]
      }

      env {
        HYPERSCALE_DATACENTER     = var.datacenter
        HYPERSCALE_MANAGERS       = var.managers
        HYPERSCALE_CORES          = "3" # one less than resources.cores
        HYPERSCALE_STOP_TIMEOUT   = "3590s"
        HYPERSCALE_CLUSTER_SECRET = "${NOMAD_SECRETS_DIR}/cluster"
      }

      template {
        data        = "{{ with nomadVar \"nomad/jobs/hyperscale-workers\" }}{{ .cluster_secret }}{{ end }}"
        destination = "secrets/cluster"
        change_mode = "noop"
        perms       = "0400"
        uid         = 65532
        gid         = 65532
      }

      resources {
        cores  = 4
        memory = 4096
      }
    }
  }
}
