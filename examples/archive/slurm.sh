#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
#   sbatch --nodes=8 slurm.sh MANIFEST DEST [OPTION...]
#
# Runs cudascan-archive on the nodes of a Slurm job, with Ray's own `ray symmetric-run` (Ray 2.52 or
# newer): it starts Ray on each node, the program on the first one, and ends Ray with it. MANIFEST
# and DEST are on a file system that all nodes have, or URLs. A job that is requeued goes on. No
# other job with Ray may run on its nodes: symmetric-run ends all of Ray on a node.
#SBATCH --job-name=cudascan-archive
#SBATCH --ntasks-per-node=1
#SBATCH --exclusive
#SBATCH --requeue
#SBATCH --no-kill
set -euo pipefail
manifest=$1 dest=$2
shift 2
# Only who has this token may use the cluster. It is in ~/.ray, which all nodes have.
export RAY_AUTH_MODE=token
ray get-auth-token --generate >/dev/null
head=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
# The loss of a node must not end the others.
srun --no-kill --kill-on-bad-exit=0 \
  ray symmetric-run --address "$head:6379" --min-nodes "$SLURM_JOB_NUM_NODES" \
  --object-store-memory=100000000 -- \
  cudascan-archive "$manifest" --output="$dest" --resume --address="$head:6379" "$@"
